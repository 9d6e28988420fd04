/* sys/dirent.h - directory entries, for newlib's <dirent.h>. */
#pragma once
#include <sys/types.h>

#define DT_UNKNOWN 0
#define DT_FIFO 1
#define DT_CHR 2
#define DT_DIR 4
#define DT_REG 8
#define DT_LNK 10

struct dirent {
	uint64_t d_ino;
	unsigned short d_reclen;
	unsigned char d_type; /* DT_* */
	char d_name[256];     /* ends with NUL */
};

typedef struct __dir DIR;
