/*
 * Threads: a pool that waits for a loop and takes its iterations one by one.
 * The caller takes iterations as well and returns when all have ended.
 */
#define _POSIX_C_SOURCE 200809L
#include "driver/run/threads.h"

#include <pthread.h>
#include <stdlib.h>

struct threads {
  pthread_mutex_t lock;
  pthread_cond_t begin, end;
  void (*task)(void *, size_t);
  void *data;
  size_t next, count, running; /* iterations; those being run */
  bool over;
  int thread_count; /* without the caller */
  pthread_t thread[];
};

/* Runs iterations while there are any; the lock is held before and after. */
static void take_turns(struct threads *t) {
  while (t->next < t->count) {
    size_t turn = t->next++;
    t->running++;
    pthread_mutex_unlock(&t->lock);
    t->task(t->data, turn);
    pthread_mutex_lock(&t->lock);
    t->running--;
  }
  if (t->running == 0)
    pthread_cond_signal(&t->end);
}

static void *work(void *user) {
  struct threads *t = user;
  pthread_mutex_lock(&t->lock);
  while (!t->over) {
    take_turns(t);
    if (!t->over && t->next >= t->count)
      pthread_cond_wait(&t->begin, &t->lock);
  }
  pthread_mutex_unlock(&t->lock);
  return NULL;
}

struct threads *threads_open(int count) {
  struct threads *t =
      calloc(1, sizeof *t + (size_t)(count - 1) * sizeof *t->thread);
  if (!t)
    return NULL;
  pthread_mutex_init(&t->lock, NULL);
  pthread_cond_init(&t->begin, NULL);
  pthread_cond_init(&t->end, NULL);
  for (; t->thread_count < count - 1; t->thread_count++)
    if (pthread_create(&t->thread[t->thread_count], NULL, work, t) != 0) {
      threads_close(t);
      return NULL;
    }
  return t;
}

void threads_close(struct threads *t) {
  if (!t)
    return;
  pthread_mutex_lock(&t->lock);
  t->over = true;
  pthread_cond_broadcast(&t->begin);
  pthread_mutex_unlock(&t->lock);
  for (int i = 0; i < t->thread_count; i++)
    pthread_join(t->thread[i], NULL);
  pthread_cond_destroy(&t->begin);
  pthread_cond_destroy(&t->end);
  pthread_mutex_destroy(&t->lock);
  free(t);
}

void threads_run(void *threads, size_t count, void (*task)(void *, size_t),
                 void *data) {
  struct threads *t = threads;
  pthread_mutex_lock(&t->lock);
  t->task = task;
  t->data = data;
  t->next = 0;
  t->count = count;
  pthread_cond_broadcast(&t->begin);
  take_turns(t);
  while (t->running > 0)
    pthread_cond_wait(&t->end, &t->lock);
  pthread_mutex_unlock(&t->lock);
}
