/*
 * Gives each record of the standard input to a target of tests/fuzz, without a
 * fuzzer: tools/mutated.py. A record is its length in four bytes, then the
 * bytes; each is answered with four bytes. The limit of each is one minute of
 * the processor, which other processes do not shorten.
 */
#define _XOPEN_SOURCE 700
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/time.h>
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
int main(void) {
  uint32_t length;
  unsigned done = 0;
  while (fread(&length, 4, 1, stdin) == 1) {
    uint8_t *data = malloc(length + 1);
    if (fread(data, 1, length, stdin) != length)
      return 3;
    data = realloc(data, length); /* no slack behind the bytes */
    setitimer(ITIMER_PROF, &(struct itimerval){.it_value.tv_sec = 60}, NULL);
    LLVMFuzzerTestOneInput(data, length);
    free(data);
    done++;
    fwrite(&done, 4, 1, stdout);
    fflush(stdout);
  }
  return 0;
}
