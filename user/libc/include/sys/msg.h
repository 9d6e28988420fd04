/* sys/msg.h - what there is instead of System V's. */
#error "weft has no System V message queues: use mq_open (mqueue.h)"
