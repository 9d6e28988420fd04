/* There is one collating order: that of the codes. */
int __collate_load_error = 1;
