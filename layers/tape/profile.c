/* Profiles: behaviour of a framework that memory depends on. */
#include "layers/tape/profile.h"

static const struct profile profiles[] = {
#define PROFILE(word, ...) {.name = word, __VA_ARGS__},
#include "layers/tape/profiles.def"
#undef PROFILE
};

const char profile_words[] =
#define PROFILE(word, ...) " " word
#include "layers/tape/profiles.def"
#undef PROFILE
    ;

const struct profile profile_planned = {.name = "planned", .block = 1};

const struct profile *profile_at(int place) {
  return &profiles[place - 1];
}
