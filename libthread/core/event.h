/* event.h - the library's part of a struct sigevent: to send a signal, or to start a new thread. */
#pragma once
#include <pthread.h>
#include <signal.h>
#include <stdbool.h>

/* core/event.c */
bool __event_valid(const struct sigevent *event);
void __event_happens(const struct sigevent *event);
