/* event.h - what a struct sigevent asks for, done by the library: a signal, or a new thread. */
#pragma once
#include <pthread.h>
#include <signal.h>
#include <stdbool.h>

/* core/event.c */
bool __event_valid(const struct sigevent *event);
void __event_happens(const struct sigevent *event);
