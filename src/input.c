#include "input.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

struct input {
	int fd;
	bool ended;
	int error;
	uint8_t *buf;
	size_t size;
	size_t from; /* at hand are from up to to */
	size_t to;
};

/* How much an open file holds from where it stands; -errno. */
static int look(int fd, uint64_t *left)
{
	struct stat st;
	off_t at;

	*left = UINT64_MAX;
	if (fstat(fd, &st) < 0)
		return -errno;
	if (S_ISDIR(st.st_mode))
		return -EISDIR;
	if (!S_ISREG(st.st_mode))
		return 0;
	at = lseek(fd, 0, SEEK_CUR);
	*left = at >= 0 && at < st.st_size ? (uint64_t)(st.st_size - at) : 0;
	return *left > 0 ? 0 : -ENODATA;
}

struct input *input_open(const char *name, size_t piece_bytes, uint64_t *left,
			 int *rc)
{
	struct input *in = calloc(1, sizeof(*in));
	uint8_t *buf = malloc(2 * piece_bytes);

	*rc = -ENOMEM;
	if (in != NULL)
		in->fd = -1;
	if (in != NULL && buf != NULL) {
		in->fd = name != NULL ? open(name, O_RDONLY | O_CLOEXEC)
				      : dup(STDIN_FILENO);
		*rc = in->fd < 0 ? -errno : look(in->fd, left);
	}
	if (*rc < 0) {
		if (in != NULL && in->fd >= 0)
			close(in->fd);
		free(buf);
		free(in);
		return NULL;
	}
	in->buf = buf;
	in->size = 2 * piece_bytes;
	return in;
}

void input_close(struct input *in)
{
	if (in == NULL)
		return;
	close(in->fd);
	free(in->buf);
	free(in);
}

bool input_fill(struct input *in, size_t bytes, int ms)
{
	struct pollfd p = { .fd = in->fd, .events = POLLIN };

	if (in->to - in->from >= bytes || in->ended)
		return true;
	memmove(in->buf, in->buf + in->from, in->to - in->from);
	in->to -= in->from;
	in->from = 0;
	while (in->to < bytes && !in->ended) {
		ssize_t n;

		if (poll(&p, 1, ms) <= 0)
			return false;
		n = read(in->fd, in->buf + in->to, in->size - in->to);
		if (n > 0)
			in->to += (size_t)n;
		else if (n == 0)
			in->ended = true;
		else if (errno != EINTR && errno != EAGAIN)
			in->error = -errno;
		in->ended = in->ended || in->error != 0;
	}
	return true;
}

const uint8_t *input_bytes(const struct input *in, size_t *bytes)
{
	*bytes = in->to - in->from;
	return in->buf + in->from;
}

void input_take(struct input *in, size_t bytes)
{
	in->from += bytes;
}

bool input_ended(const struct input *in)
{
	return in->ended;
}

int input_error(const struct input *in)
{
	return in->error;
}
