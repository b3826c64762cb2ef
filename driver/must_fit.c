/* --must-fit: reports as exit status whether a net fits the named device. */
#include "driver/must_fit.h"

#include <string.h>

int must_fit_is_asked(struct netc *netc, const struct net_options *o) {
  struct netc_answer a = {.size = sizeof a};
  if (!o->must_fit) /* inference needs a search of its own */
    return EXIT_DONE;
  enum netc_status status = netc_answer(netc, o->look.predict, &a);
  if (status != NETC_OK)
    return exit_status_of(netc, status);
  if (a.on_device)
    return EXIT_DONE;
  return complain(EXIT_USAGE,
                  "--must-fit needs a device: --gpu NAME or --memory SIZE");
}

/* "room for 7.00 GiB", or none beside the framework. */
static const char *room_text(char *to, size_t size, int64_t bytes) {
  if (bytes <= 1)
    return "no memory left beside the framework";
  snprintf(to, size, "%s available", size_text(bytes, UNITS_IEC).text);
  return to;
}

/* "312.40 KiB of RAM, and the board has 320.00 KiB"; true if too much. */
static bool put_board(char *to, size_t size, const char *memory, int64_t need,
                      int64_t room) {
  if (!room || need <= room)
    return false;
  snprintf(to, size, "%s of %s, but the board has %s",
           size_text(need, UNITS_IEC).text, memory,
           size_text(room, UNITS_IEC).text);
  return true;
}

static int say_board(const struct netc_answer *a, const char *file) {
  char ram[128] = "", flash[128] = "";
  bool both =
      put_board(ram, sizeof ram, "RAM", a->ram_bytes, a->ram_room_bytes);
  both &= put_board(flash, sizeof flash, "flash", a->flash_bytes,
                    a->flash_room_bytes);
  if (!*ram && !*flash)
    return complain_of_fit(file, NULL,
                           "the arena is larger than the board's largest "
                           "contiguous RAM");
  return complain_of_fit(file, NULL, "inference needs %s%s%s", ram,
                         both ? "; it needs " : "", flash);
}

static int say_prediction(const struct netc_answer *a, const char *file) {
  char room[64];
  if (a->ram_bytes)
    return say_board(a, file);
  if (a->bytes == INT64_MAX)
    return complain_of_fit(file,
                           "`netc FILE.net --predict` lists numbers that can",
                           "this number of devices cannot share the net");
  return complain_of_fit(file, NULL,
                         "inference needs %s, but the device has %s",
                         size_text(a->bytes, UNITS_IEC).text,
                         room_text(room, sizeof room, a->room_bytes));
}

/* Writes a hint for each setting that makes the net fit. */
static void put_ways(char *to, size_t room, struct netc *netc) {
  struct netc_way way = {.size = sizeof way};
  size_t used = 0;
  snprintf(to, room, "no known setting makes it fit");
  for (size_t i = 0; netc_way(netc, i, &way) == NETC_OK && used < room; i++)
    used += (size_t)snprintf(to + used, room - used, "%swith %s it needs %s",
                             used ? "\n" : "", way.options,
                             size_text(way.peak_bytes, UNITS_IEC).text);
}

static int say_step(struct netc *netc, const struct netc_answer *a,
                    const char *file) {
  char room[64], ways[1024];
  bool host = a->host_room_bytes && a->host_bytes > a->host_room_bytes;
  put_ways(ways, sizeof ways, netc);
  if (a->bytes > a->room_bytes)
    complain_of_fit(file, host ? NULL : ways,
                    "a training step needs %s, but the device has %s",
                    size_text(a->bytes, UNITS_IEC).text,
                    room_text(room, sizeof room, a->room_bytes));
  if (host)
    complain_of_fit(
        file, ways,
        "the devices of a host need %s of host memory, but it has %s",
        size_text(a->host_bytes, UNITS_IEC).text,
        size_text(a->host_room_bytes, UNITS_IEC).text);
  return EXIT_SOURCE;
}

int must_fit_check(struct netc *netc, const struct net_options *o,
                   const char *file, bool said) {
  struct netc_answer a = {.size = sizeof a};
  struct netc_inference computed = {.size = sizeof computed};
  if (netc_inference(netc, &computed) != NETC_OK) /* a check may need none */
    return EXIT_DONE;
  enum netc_status status = netc_answer(netc, o->look.predict, &a);
  if (status == NETC_ERROR)
    return complain(EXIT_SOURCE, "%s: %s", file, netc_message(netc));
  if (status != NETC_OK)
    return exit_status_of(netc, status);
  if (!a.on_device || a.fits)
    return EXIT_DONE;
  if (!said)
    return EXIT_SOURCE;
  return a.question == NETC_TRAINING ? say_step(netc, &a, file)
                                     : say_prediction(&a, file);
}
