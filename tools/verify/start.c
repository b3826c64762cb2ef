/* netc verify: how a Cortex-M begins, before main. */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

extern uint32_t data_source, data_begin, data_end, bss_begin, bss_end, stack;
int main(void);
void initialise_monitor_handles(void); /* newlib's, for semihosting */

void reset(void);
void reset(void) {
  uint32_t *from = &data_source, *to;
#ifdef __ARM_FP
  *(volatile uint32_t *)0xE000ED88 |= 0xF << 20; /* CPACR: the FPU is on */
#endif
  for (to = &data_begin; to < &data_end;)
    *to++ = *from++;
  for (to = &bss_begin; to < &bss_end;)
    *to++ = 0;
  initialise_monitor_handles();
  exit(main());
}

static void fault(void) {
  exit(98);
}

__attribute__((section(".vectors"), used)) static void *const vectors[] = {
    (void *)&stack, (void *)reset, (void *)fault, (void *)fault,
    (void *)fault,  (void *)fault, (void *)fault};
