/* sys/msg.h - the replacement for System V's message queues. */
#error "weft has no System V message queues: use mq_open (mqueue.h)"
