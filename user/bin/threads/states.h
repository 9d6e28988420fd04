/* states.h - how ps and lwps show what an LWP is doing. */
#pragma once
#include <weft/lwp.h>

static inline const char *state_name(unsigned state)
{
	static const char *const names[] = {
		[LWP_ST_IDLE] = "new",    [LWP_ST_RUN] = "run",   [LWP_ST_ONPROC] = "cpu",
		[LWP_ST_SLEEP] = "sleep", [LWP_ST_STOP] = "stop", [LWP_ST_ZOMB] = "exited",
	};

	return state < sizeof(names) / sizeof(names[0]) ? names[state] : "?";
}
