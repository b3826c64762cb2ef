/*
 * Diagrams: what a reader of a printed page needs of them. Sizes on A4 and
 * lines that cross nothing are computed from the SVG and PDF themselves.
 */
#include "tests/run.h"

#include <math.h>

#include "drawing/scene/palette.h"
#include "drawing/scene/scene.h"

/* SVG, read back: only what scene_svg.c writes. */

struct rect {
  double x, y, width, height;
  bool frame;
};

struct words {
  double x, y, size;
  bool bold, middle, end;
  char text[160];
};

struct leg {
  double x0, y0, x1, y1;
  int line; /* its number */
};

struct picture {
  char *svg;
  double width, height, least;
  struct rect *rects;
  struct words *words;
  struct leg *legs;
  size_t rect_count, word_count, leg_count;
  int lines;
};

static double number_of(const char *tag, const char *name) {
  char key[32];
  snprintf(key, sizeof key, " %s=\"", name);
  const char *at = strstr(tag, key);
  return at ? strtod(at + strlen(key), NULL) : 0;
}

static bool has(const char *tag, const char *end, const char *what) {
  const char *at = strstr(tag, what);
  return at && at < end;
}

static void read_path(struct picture *p, const char *tag) {
  const char *at = strstr(tag, " d=\"M") + 5;
  double x = 0, y = 0;
  int number = p->lines++;
  for (char command = 'M'; *at != '"' && *at != 'Z';) {
    char *end;
    double to[6] = {0};
    int count = command == 'C' ? 6 : 2;
    for (int i = 0; i < count; i++) {
      to[i] = strtod(at, &end);
      at = end;
    }
    if (command != 'M')
      p->legs[p->leg_count++] =
          (struct leg){x, y, to[count - 2], to[count - 1], number};
    x = to[count - 2];
    y = to[count - 1];
    if (*at == 'L' || *at == 'C')
      command = *at++;
  }
}

static void read_words(struct picture *p, const char *tag, const char *end) {
  struct words *w = &p->words[p->word_count++];
  *w = (struct words){.x = number_of(tag, "x"),
                      .y = number_of(tag, "y"),
                      .size = number_of(tag, "font-size"),
                      .bold = has(tag, end, "bold"),
                      .middle = has(tag, end, "\"middle\""),
                      .end = has(tag, end, "\"end\"")};
  snprintf(w->text, sizeof w->text, "%.*s", (int)strcspn(end + 1, "<"),
           end + 1);
  if (p->least == 0 || w->size < p->least)
    p->least = w->size;
}

static struct picture read_picture(char *svg) {
  size_t room = strlen(svg) / 8 + 1;
  struct picture p = {.svg = svg,
                      .width = number_of(svg, "width"),
                      .height = number_of(svg, "height"),
                      .rects = calloc(room, sizeof *p.rects),
                      .words = calloc(room, sizeof *p.words),
                      .legs = calloc(room, sizeof *p.legs)};
  bool boxes = false; /* between <a or <g and its end */
  assert_non_null(p.legs);
  for (char *at = strchr(svg, '<'); at; at = strchr(at + 1, '<')) {
    char *end = strchr(at, '>');
    boxes = strncmp(at, "<a ", 3) == 0 || strncmp(at, "<g ", 3) == 0 ||
            (boxes && strncmp(at, "</a", 3) != 0 && strncmp(at, "</g", 3) != 0);
    if (strncmp(at, "<rect x", 7) == 0)
      p.rects[p.rect_count++] = (struct rect){
          number_of(at, "x"), number_of(at, "y"), number_of(at, "width"),
          number_of(at, "height"), !boxes};
    else if (strncmp(at, "<text", 5) == 0)
      read_words(&p, at, end);
    else if (strncmp(at, "<path", 5) == 0 && has(at, end, "fill=\"none\""))
      read_path(&p, at);
  }
  return p;
}

static struct picture draw(const char *net, const char *options) {
  struct run r = run("%s %s --emit=svg %s 2>/dev/null", NETC, options, net);
  assert_int_equal(r.status, 0);
  char *svg = r.out;
  r.out = NULL; /* kept by the picture */
  run_free(&r);
  return read_picture(svg);
}

static void picture_free(struct picture *p) {
  free(p->svg);
  free(p->rects);
  free(p->words);
  free(p->legs);
}

/* How much smaller a picture is on A4 within its margins, turned if wide. */
static double scale_of(double width, double height) {
  double wide = (width > height ? PAGE_HEIGHT : PAGE_WIDTH) / 10.0;
  double high = (width > height ? PAGE_WIDTH : PAGE_HEIGHT) / 10.0;
  return fmin(1, fmin(wide / width, high / height));
}

static struct rect words_rect(const struct words *w) {
  struct slice text = slice_of(w->text);
  double width =
      (double)text_extent(text, (int64_t)(w->size * 10), w->bold) / 10;
  double x = w->middle ? w->x - width / 2 : w->end ? w->x - width : w->x;
  return (struct rect){x, w->y - 0.7 * w->size, width, 0.7 * w->size, false};
}

/* True if a leg passes through a rectangle, more than `slack` inside. */
static bool crosses(const struct leg *l, const struct rect *r, double slack) {
  double left = fmin(l->x0, l->x1), right = fmax(l->x0, l->x1);
  double top = fmin(l->y0, l->y1), bottom = fmax(l->y0, l->y1);
  return right > r->x + slack && left < r->x + r->width - slack &&
         bottom > r->y + slack && top < r->y + r->height - slack;
}

static int count_crossings(const struct picture *p, const char *net) {
  int crossings = 0;
  for (size_t i = 0; i < p->leg_count; i++) {
    for (size_t k = 0; k < p->rect_count; k++)
      if (!p->rects[k].frame && crosses(&p->legs[i], &p->rects[k], 1)) {
        print_error("%s: a line crosses the box at %.1f %.1f\n", net,
                    p->rects[k].x, p->rects[k].y);
        crossings++;
      }
    for (size_t k = 0; k < p->word_count; k++) {
      struct rect r = words_rect(&p->words[k]);
      if (p->words[k].bold && crosses(&p->legs[i], &r, 0.5)) {
        print_error("%s: a line crosses `%s`\n", net, p->words[k].text);
        crossings++;
      }
    }
  }
  return crossings;
}

static bool is_inside(const struct rect *r, double x, double y, double slack) {
  return x > r->x + slack && x < r->x + r->width - slack && y > r->y + slack &&
         y < r->y + r->height - slack;
}

/* Lines that leave a frame in which both of their ends are. */
static int count_escapes(const struct picture *p, const char *net) {
  int escapes = 0;
  for (size_t k = 0; k < p->rect_count; k++) {
    const struct rect *frame = &p->rects[k];
    for (size_t i = 0, end; frame->frame && i < p->leg_count; i = end) {
      bool outside = false;
      for (end = i; end < p->leg_count && p->legs[end].line == p->legs[i].line;
           end++)
        outside =
            outside || !is_inside(frame, p->legs[end].x1, p->legs[end].y1, 0);
      const struct leg *first = &p->legs[i], *last = &p->legs[end - 1];
      if (outside && is_inside(frame, first->x0, first->y0, 1) &&
          is_inside(frame, last->x1, last->y1, 1)) {
        print_error("%s: a line from %.1f %.1f leaves its frame\n", net,
                    first->x0, first->y0);
        escapes++;
      }
    }
  }
  return escapes;
}

/* PDF, read back: pages, and the least size of text on them. */

struct pages {
  int count;
  double least, widest, longest, highest;
};

static struct pages read_pages(const char *pdf) {
  struct pages pages = {.least = 1000};
  double scale = 1;
  for (const char *line = pdf; line; line = strchr(line, '\n')) {
    line += *line == '\n';
    bool drawn = strncmp(line, "BT ", 3) == 0 || !strchr("<0123456789", *line);
    size_t length = strcspn(line, "\n");
    const char *box = *line == '<' ? strstr(line, "/MediaBox [0 0 ") : NULL;
    if (box && box < line + length) {
      char *end;
      double width = strtod(box + 15, &end), height = strtod(end, NULL);
      pages.count++;
      pages.widest = fmax(pages.widest, fmin(width, height));
      pages.longest = fmax(pages.longest, fmax(width, height));
      pages.highest = fmax(pages.highest, height);
    }
    if (!drawn && length > 3 && strncmp(line + length - 3, "1 j", 3) == 0)
      scale = strtod(line, NULL);
    const char *font = strncmp(line, "BT ", 3) == 0 ? strchr(line, '/') : NULL;
    if (font)
      pages.least = fmin(pages.least, scale * strtod(font + 3, NULL));
  }
  return pages;
}

static struct pages print_net(const char *net) {
  struct run r = run("%s --emit=pdf %s 2>/dev/null", NETC, net);
  assert_int_equal(r.status, 0);
  struct pages pages = read_pages(r.out);
  run_free(&r);
  return pages;
}

/* The zoo: a test each. */

struct zoo_row {
  char net[256];
};

/* Each edge between boxes of the .dot is an arrow with a head. */
static void check_arrows(const struct zoo_row *row, const char *svg) {
  struct run dot = run("%s --emit=dot %s 2>/dev/null", NETC, row->net);
  assert_int_equal(count_of(svg, "Z\" fill="), count_of(dot.out, " -> n"));
  run_free(&dot);
}

static int count_texts(const struct picture *p, const char *text,
                       const char *behind) {
  int count = 0;
  size_t length = strlen(text);
  for (size_t i = 0; i < p->word_count; i++) {
    const char *at = p->words[i].text;
    count += strncmp(at, text, length) == 0 &&
             strncmp(at + length, behind, strlen(behind)) == 0 &&
             (*behind || !at[length]);
  }
  return count;
}

/* `y[1-23]` names y[23], too: a layer as `y[1-23]: ..`, a frame by itself. */
static int count_ends(const struct picture *p, const char *name) {
  size_t stem = strcspn(name, "[") + 1;
  char end[200];
  int count = 0;
  if (!strchr(name, '['))
    return 0;
  snprintf(end, sizeof end, "\xE2\x80\x93%s", name + stem);
  for (size_t i = 0; i < p->word_count; i++) {
    const char *at = strstr(p->words[i].text, end);
    count += strncmp(p->words[i].text, name, stem) == 0 && at &&
             strchr(":", at[strlen(end)]) != NULL;
  }
  return count;
}

/* A name at the end of an arrow stands once more, at what it is the name of. */
static void check_names(const struct zoo_row *row, const struct picture *p) {
  struct run dot = run("%s --emit=dot %s 2>/dev/null", NETC, row->net);
  for (char *at = dot.out; (at = strstr(at, "\n  in"));) {
    char name[160];
    at += strcspn(at + 1, " ") + 1;
    at += 2 + strcspn(at + 2, " ") + 1;
    if (strncmp(at, "[label=\"", 8) != 0)
      continue; /* its arrow */
    at += 8;
    snprintf(name, sizeof name, "%.*s", (int)strcspn(at, "\""), at);
    if (strncmp(name, "in ", 3) == 0)
      continue; /* of a call that is drawn once */
    char label[200];
    snprintf(label, sizeof label, " [label=\"%s\", shape=plaintext", name);
    int stubs = count_of(dot.out, label);
    if (strstr(name, "\xE2\x80\x93")) /* of a loop's first and last turn */
      *strpbrk(name, "0123456789") = '\0';
    int all = count_texts(p, name, "") + count_texts(p, name, ":") +
              (name[strlen(name) - 1] == '['
                   ? count_texts(p, name, "0") + count_texts(p, name, "1") +
                         count_texts(p, name, "2") + count_texts(p, name, "3")
                   : 0);
    if (all + count_ends(p, name) <= stubs)
      fail_msg("%s: `%s` is named nowhere", row->net, name);
  }
  run_free(&dot);
}

/* A part with a letter is drawn in one frame. */
static void check_letters(const struct zoo_row *row, const struct picture *p) {
  for (char letter = 'A'; letter <= 'Z'; letter++) {
    char name[] = {'(', letter, ')', '\0'};
    int boxes = 0, frames = 0;
    for (size_t i = 0; i < p->word_count; i++) {
      const char *text = p->words[i].text;
      frames += p->words[i].bold && strstr(text, name) == text;
      boxes += !p->words[i].bold && strstr(text, name) != NULL &&
               !strstr(text, "drawn once");
    }
    if (boxes > 0 && frames != 1)
      fail_msg("%s: %s is drawn %d times", row->net, name, frames);
  }
}

/* Some nets need several pages for letters of 6 pt and all their lines:
 * attention that is written out, detectors with their backbones, HRNet. */
static int pages_of(const char *net) {
  static const struct {
    const char *net;
    int pages;
  } more[] = {{"examples/zoo/deformable_detr.net", 2},
              {"examples/zoo/faster_rcnn.net", 2},
              {"examples/zoo/fcos.net", 2},
              {"examples/zoo/hrnet.net", 2},
              {"examples/zoo/mask_rcnn.net", 2},
              {"examples/zoo/rt_detr.net", 3},
              {"examples/zoo/yolo11.net", 2}};
  for (size_t i = 0; i < sizeof more / sizeof *more; i++)
    if (strcmp(net, more[i].net) == 0)
      return more[i].pages;
  return 1;
}

static void check_lines(const char *net, const char *options) {
  struct picture p = draw(net, options);
  int crossings = count_crossings(&p, net);
  if (crossings)
    fail_msg("%s %s: %d lines cross boxes", net, options, crossings);
  assert_int_equal(count_escapes(&p, net), 0);
  picture_free(&p);
}

enum { LOW = 4252 }; /* 150 mm */

/* A note says that a page is too small, exactly if it is. */
static void check_note(const char *net, const struct run *r, double height,
                       double letters) {
  bool noted = strstr(r->err, "note: the page is too small: ") != NULL;
  bool high = height > LOW / 10.0;
  assert_int_equal(r->status, 0);
  if (noted ? !high && letters > 6.005 : high || letters < 5.995)
    fail_msg("%s: %.1f pt high, letters of %.2f pt: %s", net, height, letters,
             r->err);
}

/* With --height a picture is at most so high with letters of 6 pt, or a note
 * says that it is higher; pages are never higher. */
static void check_height(const char *net) {
  struct run r = run("%s --height 150mm --emit=svg %s", NETC, net);
  struct picture p = read_picture(r.out);
  double wide = strtod(strstr(p.svg, "viewBox=\"0 0 ") + 13, NULL);
  check_note(net, &r, p.height, p.least * p.width / wide);
  r.out = NULL; /* kept by the picture */
  run_free(&r);
  picture_free(&p);
  r = run("%s --height 150mm --emit=pdf %s", NETC, net);
  struct pages pages = read_pages(r.out);
  assert_true(pages.highest <= LOW / 10.0);
  check_note(net, &r, pages.highest, pages.least);
  run_free(&r);
}

/* One A4 page that can be read; a picture that says the same both ways. */
static void check_zoo(void **state) {
  const struct zoo_row *row = *state;
  int page_count = pages_of(row->net);
  struct picture p = draw(row->net, "");
  check_arrows(row, p.svg);
  check_names(row, &p);
  check_letters(row, &p);
  struct pages pages = print_net(row->net);
  double text = p.least * scale_of(p.width, p.height);
  if ((text < 6) != (page_count > 1))
    fail_msg("%.0f x %.0f pt: text of %.1f pt on A4", p.width, p.height, text);
  assert_int_equal(pages.count, page_count);
  assert_true(pages.least >= 5.995);
  assert_true(pages.widest <= PAGE_WIDTH / 10.0 &&
              pages.longest <= PAGE_HEIGHT / 10.0);
  picture_free(&p);
  check_lines(row->net, "");
  check_lines(row->net, "--labels=source");
  check_lines(row->net, "--direction=lr --notes=none");
  struct picture narrow = draw(row->net, "--width 500pt");
  assert_int_equal(count_escapes(&narrow, row->net), 0);
  picture_free(&narrow);
  check_height(row->net);
}

/* Single facts */

static void assert_shows(const char *net, const char *what) {
  struct picture p = draw(net, "");
  assert_holds(p.svg, what);
  picture_free(&p);
}

static void repeats_are_drawn_once(void **state) {
  (void)state;
  assert_shows("examples/zoo/bert.net", "× 12</text>");
  assert_shows("examples/zoo/llama.net", "× 32</text>");
  assert_shows("examples/zoo/densenet.net", "× 24</text>");
  assert_shows("examples/zoo/densenet.net", "512–1,984");
  assert_shows("examples/resnet50.net", "Bottleneck, 256  × 5</text>");
  struct picture open = draw("examples/zoo/bert.net", "--unfold");
  assert_null(strstr(open.svg, "× 12</text>"));
  picture_free(&open);
}

static void assert_texts(const struct picture *p, const char *text, int count) {
  int found = 0;
  for (size_t i = 0; i < p->word_count; i++)
    found += strcmp(p->words[i].text, text) == 0;
  if (found != count)
    fail_msg("%d times `%s`", found, text);
}

/* Blocks that all read one tensor; lines lead to those that it modulates. */
static void what_all_turns_read_is_named(void **state) {
  (void)state;
  struct picture p = draw("examples/zoo/dit.net", "--labels=source");
  assert_texts(&p, "block (A)  × 28", 1);
  assert_texts(&p, "(A) block", 1);
  assert_texts(&p, "shared", 1);
  assert_texts(&p, "ada", 1); /* its frame: its readers have lines */
  assert_texts(&p, "6,912", 1);
  picture_free(&p);
}

/* Modules of three and of four branches, with all that they exchange. */
static void modules_of_many_branches_are_drawn_once(void **state) {
  (void)state;
  struct picture p = draw("examples/zoo/hrnet.net", "--labels=source");
  assert_texts(&p, "block (C)  × 4", 1);
  assert_texts(&p, "block (D)  × 2", 1);
  assert_texts(&p, "(D) block", 1);
  assert_texts(&p, "in 4", 1); /* the fourth branch of (D) */
  assert_texts(&p, "basic (B)  × 4", 13);
  assert_texts(&p, "x[6][4]: + relu", 1);
  assert_texts(&p, "(B) basic", 1);
  picture_free(&p);
}

static void turns_that_differ_in_figures_are_drawn_once(void **state) {
  (void)state;
  struct picture p = draw("examples/zoo/wavenet.net", "--labels=source");
  assert_texts(&p, "block dilate=1–512 (A)  × 29", 1);
  assert_texts(&p, "(A) block", 1);
  assert_texts(&p, "h[1]: +", 1);
  assert_texts(&p, "skip (B)", 1);
  picture_free(&p);
  struct picture g = draw("examples/zoo/stylegan2_g.net", "--labels=source");
  assert_texts(&g, "rgb (C)  × 8", 1);
  assert_texts(&g, "map[2]: styled 512 (B)", 1);
  picture_free(&g);
  /* Each has an output for training, and what follows reads one twice. */
  struct picture d = draw("examples/zoo/rt_detr.net", "--labels=source");
  assert_texts(&d, "× 5", 1);
  assert_texts(&d, "boxes[0–4]", 2);
  picture_free(&d);
}

/*
 * How values are moved and at what rate they are dropped makes no other block:
 * the stages of Swin are as its paper has them.
 */
static void turns_that_move_and_drop_otherwise_are_drawn_once(void **state) {
  (void)state;
  struct picture p = draw("examples/zoo/swin.net", "--labels=source");
  assert_texts(&p, "× 2", 3);
  assert_texts(&p, "× 6", 1);
  assert_texts(&p, "droppath 0–0.2", 1);
  assert_texts(&p, "window_partition 0–3", 3);
  assert_texts(&p, "windows 12 0–3", 1);
  picture_free(&p);
  static const struct {
    const char *turns, *text;
    bool folded;
  } nets[] = {{"for p in [0.3 0.1 0.2] { linear 8 relu; dropout p }",
               "linear 8 relu dropout 0.1–0.3", true},
              {"for s in 0..1 { if s == 1 { roll 1 }; reshape 2x4x8; "
               "permute 1 0 2; reshape 8x8; linear 8 }",
               "(roll) reshape permute", true},
              {"for s in 0..1 { linear 8; reshape 2x4x8; "
               "if s == 1 { permute 1 0 2 }; reshape 8x8 }",
               "reshape (permute) reshape", true},
              {"for s in 0..1 { linear 8+s; reshape _x4; permute 1 0 }",
               "linear 8–9", false}};
  for (size_t i = 0; i < sizeof nets / sizeof *nets; i++) {
    struct run r =
        run("printf 'input 8x8\n%s\n' | %s --labels=source --emit=svg - 2>&1",
            nets[i].turns, NETC);
    if ((strstr(r.out, nets[i].text) != NULL) != nets[i].folded)
      fail_msg("%s: %s\n%s", nets[i].turns, nets[i].text, r.out);
    run_free(&r);
  }
}

/* Only whole turns, which nobody reads from inside but a sum over all. */
static void turns_that_are_read_one_by_one_are_drawn_each(void **state) {
  (void)state;
  static const char head[] = "input 64\ny[0]: linear 64\n"
                             "for i in 1..600 { y[i]: linear 64+i relu }\n";
  static const struct {
    const char *rest, *text;
    bool folded;
  } nets[] = {
      {"concat y[1..600]", "y[1–600]: linear", true},
      {"concat y[7] y[600]", "y[1–600]: linear", false},
      {"from y[7]\noutput seven\nfrom y[600]", "y[1–600]: linear", false},
      {"linear 10", "y[1–600]: linear", true}};
  for (size_t i = 0; i < sizeof nets / sizeof *nets; i++) {
    struct run r = run("printf '%s%s\n' | %s --labels=source --emit=svg - 2>&1",
                       head, nets[i].rest, NETC);
    assert_int_equal(r.status, 0);
    assert_int_equal(strstr(r.out, nets[i].text) != NULL, nets[i].folded);
    run_free(&r);
  }
}

static void equal_calls_are_drawn_once(void **state) {
  (void)state;
  struct picture p = draw("examples/zoo/sd_unet.net", "--labels=source");
  assert_texts(&p, "transformer (C)", 3);
  assert_texts(&p, "(C) transformer", 1);
  assert_texts(&p, "block 1 640 (D)", 3);
  assert_texts(&p, "time", 4); /* only in what is drawn once */
  picture_free(&p);
  struct picture open =
      draw("examples/zoo/sd_unet.net", "--unfold --labels=source");
  assert_texts(&open, "(C) transformer", 0);
  picture_free(&open);
}

/* Boxes elsewhere have its letter: it is found where it begins. */
static void a_long_call_keeps_its_title(void **state) {
  (void)state;
  char net[512];
  snprintf(net, sizeof net, "%s/long.net", scratch("long-call"));
  FILE *file = fopen(net, "w");
  assert_non_null(file);
  fprintf(file, "input 32x32x3\ndef tower(c) {\n");
  for (int i = 0; i < 120; i++)
    fprintf(file, "conv c+%d 3 pad bn relu\n", i);
  fprintf(file, "}\ntower 8\ntower 16\ntower 24\n");
  fclose(file);
  struct picture p = draw(net, "--labels=source");
  assert_texts(&p, "(A) tower 8", 1);
  assert_texts(&p, "(A), continued", 7);
  picture_free(&p);
}

/* Only where every layer of the kind has it, and the boxes say it, too. */
static void a_tail_of_all_stands_in_the_legend(void **state) {
  (void)state;
  struct picture p = draw("examples/zoo/inception_v3.net", "--labels=source");
  assert_holds(p.svg, ">after each conv: bn relu</text>");
  assert_holds(p.svg, ">conv 32 3×3 /2</text>");
  assert_holds(p.svg, "<title>conv1: conv 32 3×3 /2 bn relu\n");
  picture_free(&p);
  struct run r = run("sed '0,/ bn relu/s// bn/' examples/zoo/inception_v3.net "
                     "| " NETC " --labels=source --emit=svg -");
  assert_null(strstr(r.out, "after each"));
  run_free(&r);
  /* A chain that is drawn by its kinds does not end in the tail of one. */
  p = draw("tests/data/seeds/svg-two-streams.net", "--labels=source");
  assert_texts(&p, "reshape", 7);
  assert_texts(&p, "permute", 7);
  assert_null(strstr(p.svg, "after each reshape"));
  picture_free(&p);
}

static const struct words *words_of(const struct picture *p, const char *text) {
  for (size_t i = 0; i < p->word_count; i++)
    if (strcmp(p->words[i].text, text) == 0)
      return &p->words[i];
  fail_msg("no `%s`", text);
  return NULL;
}

static double place_of(const struct picture *p, const char *text) {
  return words_of(p, text)->x;
}

/* Lines that run straight from one side of a U to the other. */
static int count_levels(const char *net) {
  struct picture p = draw(net, "");
  int levels = 0;
  for (size_t i = 0; i < p.leg_count; i++) {
    const struct leg *l = &p.legs[i];
    bool alone = (i == 0 || l[-1].line != l->line) &&
                 (i + 1 == p.leg_count || l[1].line != l->line);
    levels += alone && l->y0 == l->y1 && l->x1 - l->x0 > 20;
  }
  picture_free(&p);
  return levels;
}

/* Also where a net is so large that its blocks are drawn once. */
static void skips_that_nest_make_a_u(void **state) {
  (void)state;
  assert_int_equal(count_levels("examples/unet.net"), 4);
  assert_int_equal(count_levels("examples/zoo/sd_unet.net"), 12);
  assert_int_equal(count_levels("examples/zoo/sdxl.net"), 9);
  assert_int_equal(count_levels("examples/resnet50.net"), 0);
}

/* The rows of texts such as `38×38×512`: where the first is, and the last. */
static void find_row(const struct picture *p, int size, double *first,
                     double *last) {
  char start[32];
  snprintf(start, sizeof start, "%d×%d×", size, size);
  *first = 1e9;
  *last = 0;
  for (size_t i = 0; i < p->word_count; i++)
    if (strncmp(p->words[i].text, start, strlen(start)) == 0) {
      *first = fmin(*first, p->words[i].y);
      *last = fmax(*last, p->words[i].y);
    }
  if (*last == 0)
    fail_msg("no map of %d", size);
}

/* Also a map that another column makes. */
static void maps_of_one_size_share_a_row(void **state) {
  (void)state;
  static const struct {
    const char *net;
    int sizes[6];
  } nets[] = {{"examples/zoo/ssd300.net", {38, 19, 10, 5, 3, 1}},
              {"examples/zoo/unetpp.net", {256, 128, 64, 32, 16}},
              {"examples/zoo/nnunet.net", {128, 64, 32, 16, 8, 4}}};
  for (size_t n = 0; n < sizeof nets / sizeof *nets; n++) {
    struct picture p = draw(nets[n].net, "");
    double above = 0;
    for (size_t i = 0; i < 6 && nets[n].sizes[i]; i++) {
      double first, last;
      find_row(&p, nets[n].sizes[i], &first, &last);
      if (first <= above)
        fail_msg("%s: maps of %d are not below larger ones", nets[n].net,
                 nets[n].sizes[i]);
      above = last;
    }
    assert_null(strstr(p.svg, "a tensor from another place"));
    picture_free(&p);
  }
}

/* An input that only stubs read stands at the first, and says its shape. */
static void a_source_stands_beside_what_it_feeds(void **state) {
  (void)state;
  struct picture p = draw("examples/zoo/sd_unet.net", "--labels=source");
  assert_texts(&p, "text", 3);
  assert_texts(&p, "77×768", 1);
  const struct words *input = words_of(&p, "77×768");
  const struct words *block = words_of(&p, "(A) down[1]: block 0 320");
  /* In (A), which is the first to read it. */
  assert_true(fabs(input->x - block->x) < 100);
  assert_true(input->y > block->y && input->y < block->y + 60);
  picture_free(&p);
  struct picture detr = draw("examples/zoo/detr.net", "--labels=source");
  assert_texts(&detr, "encoder (C)  × 6", 1);
  assert_texts(&detr, "place", 3); /* in both blocks, whose frames name it */
  assert_texts(&detr, "query: weight", 1);
  picture_free(&detr);
}

static void branches_stand_as_in_the_source(void **state) {
  (void)state;
  struct picture p = draw("examples/inception.net", "--labels=source");
  double a = place_of(&p, "conv 64 1×1 relu");
  double b = place_of(&p, "conv 96 1×1 relu");
  double c = place_of(&p, "conv 16 1×1 relu");
  double d = place_of(&p, "pool 3×3 /1 pad");
  assert_true(a < b && b < c && c < d);
  picture_free(&p);
}

static void a_shape_is_said_where_it_changes(void **state) {
  (void)state;
  struct picture p = draw("examples/zoo/bert.net", "");
  int said = 0;
  for (size_t i = 0; i < p.word_count; i++)
    said += strcmp(p.words[i].text, "512×768") == 0;
  assert_in_range(said, 1, 4);
  picture_free(&p);
}

static void notes_and_heat_are_on_demand(void **state) {
  (void)state;
  struct picture p = draw("examples/simple_cnn.net", "--notes=all");
  assert_holds(p.svg, "11.5 M MACs");
  assert_holds(p.svg, "18,496 parameters");
  assert_holds(p.svg, "156.2 KiB");
  picture_free(&p);
  struct picture heat = draw("examples/simple_cnn.net", "--fill=params");
  assert_holds(heat.svg, ">4.61 M</text>");
  assert_holds(heat.svg, "up to ");
  picture_free(&heat);
  /* --color took these words before there was --fill. */
  struct picture saved = draw("examples/simple_cnn.net", "--color=saved");
  assert_holds(saved.svg, "kept for backward");
  picture_free(&saved);
  struct picture none = draw("examples/simple_cnn.net", "--notes=none");
  assert_null(strstr(none.svg, "18,496</text>"));
  picture_free(&none);
}

static void boxes_have_ids_tooltips_and_links(void **state) {
  (void)state;
  struct picture p = draw("examples/simple_cnn.net", "--labels=source");
  assert_holds(p.svg, "role=\"img\" aria-labelledby=\"title desc\"");
  assert_holds(p.svg, "<desc id=\"desc\">");
  assert_holds(p.svg, "<a id=\"n.C2\" href=\"./examples/simple_cnn.net#L6\">"
                      "<title>C2: conv 64 3×3 pad\n25×25×64\n"
                      "18,496 parameters\n11,520,000 MACs\n"
                      "examples/simple_cnn.net:6</title>");
  picture_free(&p);
}

/* A browser resolves them as URLs, from where the SVG lies. */
static void links_lead_to_the_source_from_anywhere(void **state) {
  (void)state;
  static const char *const outs[] = {
      "x.svg",          "out/a/x.svg",    "o #%b/x.svg", "../y.svg",
      "./out/../z.svg", "$PWD/out/w.svg", "src/x.svg"};
  const char *dir = scratch("diagram-links");
  for (size_t i = 0; i < sizeof outs / sizeof *outs; i++)
    for (int absolute = 0; absolute < 2; absolute++) {
      struct run r = run(
          "r=$PWD; mkdir -p %s/here; cd %s/here && mkdir -p 'src %%' out/a "
          "'o #%%b' src && cp $r/examples/unet.net 'src %%/u.net' && " NETC_PATH
          " %s'src %%/u.net' --labels=source -o \"%s\" && "
          "$r/tests/diagrams.py links 'src %%/u.net' \"%s\"",
          dir, dir, absolute ? "\"$PWD\"/" : "", outs[i], outs[i]);
      if (r.status)
        print_error("%s: %s", outs[i], r.err);
      assert_int_equal(r.status, 0);
      run_free(&r);
    }
}

static void equal_nets_give_equal_bytes(void **state) {
  (void)state;
  static const char *const kinds[] = {"svg", "pdf", "dot"};
  for (size_t i = 0; i < 3; i++) {
    struct run a = run("%s --emit=%s examples/zoo/yolov3.net", NETC, kinds[i]);
    struct run b = run("LC_ALL=C TZ=Asia/Tokyo %s --emit=%s "
                       "examples/zoo/yolov3.net",
                       NETC, kinds[i]);
    assert_string_equal(a.out, b.out);
    run_free(&a);
    run_free(&b);
  }
}

/* Names that end texts, begin elements or turn the direction of reading. */
static void hostile_names_do_no_harm(void **state) {
  (void)state;
  const char *dir = scratch("diagram-names");
  char path[512];
  snprintf(path, sizeof path, "%s/a\"<b>&'\\\n\xE2\x80\xAEx\xFF().net", dir);
  static const char net[] = "input 8x8x3\nconv 4 3x3 pad bn\n";
  write_text(path, net, sizeof net - 1);
  struct run r =
      run("cd %s && for n in *.net; do for k in svg pdf dot; do "
          "%s \"./$n\" --labels=source --emit=$k=o.$k; done; done && "
          "python3 -c 'import xml.dom.minidom as m; "
          "d = m.parse(\"o.svg\"); "
          "print(len(d.getElementsByTagName(\"a\")))' && "
          "dot -Tcanon o.dot >/dev/null && "
          "! grep -l \"$(printf '\\342\\200\\256')\" o.*",
          dir, NETC_PATH);
  if (r.status)
    print_error("%s%s\n", r.out, r.err);
  assert_int_equal(r.status, 0);
  assert_string_equal(r.out, "2\n");
  run_free(&r);
}

/* README's pictures are what `make pictures` makes. */
static void the_diagrams_of_the_manual_are_current(void **state) {
  (void)state;
  const char *dir = scratch("diagram-docs");
  struct run r = run("tools/diagrams.sh %s %s && for f in %s/*; do "
                     "cmp $f docs/${f##*/} || exit; done",
                     NETC, dir, dir);
  if (r.status)
    print_error("%s%s`make pictures` makes them anew\n", r.out, r.err);
  assert_int_equal(r.status, 0);
  run_free(&r);
}

/* So is the gallery, whose nets are those of the page. */
static void the_gallery_is_current(void **state) {
  (void)state;
  const char *dir = scratch("gallery");
  struct run r = run("tools/gallery.sh %s %s $(sed -n 's/^## //p' "
                     "docs/gallery.md) && cmp %s/gallery.md docs/gallery.md "
                     "&& ls %s/gallery | wc -l && for f in %s/gallery/*; do "
                     "cmp $f docs/gallery/${f##*/} || exit; done",
                     NETC, dir, dir, dir, dir);
  if (r.status)
    print_error("%s%s`make gallery` makes it anew\n", r.out, r.err);
  assert_int_equal(r.status, 0);
  assert_string_equal(r.out, "8\n");
  run_free(&r);
}

static void only_png_needs_graphviz(void **state) {
  (void)state;
  const char *dir = scratch("diagram-alone");
  struct run r =
      run("PATH=$(realpath %s) %s examples/unet.net -o %s/u.svg -o %s/u.pdf && "
          "PATH=$(realpath %s) %s examples/unet.net -o %s/u.png",
          dir, NETC_PATH, dir, dir, dir, NETC_PATH, dir);
  assert_int_equal(r.status, 3);
  assert_holds(r.err, "apt-get install graphviz");
  run_free(&r);
}

/* A dot that makes a picture of 20,000 x 100 pixels. */
static void a_png_that_viewers_refuse_is_said_so(void **state) {
  (void)state;
  const char *dir = scratch("widedot");
  struct run r = run(
      "printf '#!/bin/sh\\ncat >/dev/null\\nprintf \"\\\\211PNG\\\\r\\\\n"
      "\\\\032\\\\n\\\\0\\\\0\\\\0\\\\015IHDR\\\\0\\\\0\\\\116\\\\040\\\\0\\\\0"
      "\\\\0\\\\144\\\\0\\\\0\\\\0\\\\0IEND\\\\256B\\\\140\\\\202\"\\n' "
      ">%s/dot; chmod +x %s/dot; PATH=$(realpath %s):$PATH %s "
      "examples/unet.net -o %s/u.png",
      dir, dir, dir, NETC, dir);
  assert_int_equal(r.status, 3);
  assert_holds(r.err, "this picture has more than the 16384 pixels of a PNG "
                      "that viewers");
  assert_holds(r.err, ".pdf");
  run_free(&r);
}

/* Calls and joins in each other, as deep as a source may be nested. */
static void deep_nests_need_little_stack(void **state) {
  (void)state;
#if defined __SANITIZE_ADDRESS__ || defined __SANITIZE_THREAD__
  skip();
#elif defined __has_feature
#if __has_feature(address_sanitizer) || __has_feature(memory_sanitizer)
  skip();
#endif
#endif
  char net[512];
  const char *folder = scratch("deep");
  snprintf(net, sizeof net, "%s/deep.net", folder);
  FILE *file = fopen(net, "w");
  assert_non_null(file);
  fprintf(file, "input 8x8x4\ndef f0 { conv 4 1x1 }\n");
  for (int i = 1; i < 95; i++)
    fprintf(file, "def f%d { add { f%d } {} }\n", i, i - 1);
  fprintf(file, "f94\n");
  fclose(file);
  struct run r = run("ulimit -s 256; for k in svg dot pdf html tex json; do "
                     "%s %s -o %s/x.$k || exit; done",
                     NETC, net, folder);
  assert_int_equal(r.status, 0);
  run_free(&r);
}

static void ten_thousand_layers_are_split_into_pages(void **state) {
  (void)state;
  char net[512];
  snprintf(net, sizeof net, "%s/long.net", scratch("long"));
  FILE *file = fopen(net, "w");
  assert_non_null(file);
  fprintf(file, "input 64x64x8\n");
  unsigned random = 1; /* nothing repeats */
  for (int i = 0; i < 10000; i++) {
    random = random * 1103515245u + 12345u;
    fprintf(file, "conv %u 3x3 pad relu\n", 4 + (random >> 16) % 41);
  }
  fclose(file);
  struct pages pages = print_net(net);
  assert_in_range(pages.count, 20, 200);
  assert_true(pages.least >= 5.995);
  assert_true(pages.longest <= PAGE_HEIGHT / 10.0);
  struct picture p = draw(net, "");
  assert_true(strlen(p.svg) < 10000000);
  picture_free(&p);
}

/* Colours */

static double linear(double part) {
  return part <= 0.04045 ? part / 12.92 : pow((part + 0.055) / 1.055, 2.4);
}

struct lab {
  double at[3], luminance;
};

static double cube_root(double t) {
  return t > 0.008856 ? cbrt(t) : 7.787 * t + 16.0 / 116;
}

/* As seen by all, or with deuteranopia: Machado et al., 2009, severity 1. */
static struct lab see(int colour, bool deuteranope) {
  static const double sight[3][3] = {{0.367322, 0.860646, -0.227968},
                                     {0.280085, 0.672501, 0.047413},
                                     {-0.011820, 0.042940, 0.968881}};
  double rgb[3], c[3];
  for (int i = 0; i < 3; i++)
    rgb[i] = linear((colour >> (16 - 8 * i) & 0xFF) / 255.0);
  for (int i = 0; i < 3; i++) {
    c[i] = rgb[i];
    if (deuteranope)
      c[i] = fmin(1, fmax(0, sight[i][0] * rgb[0] + sight[i][1] * rgb[1] +
                                 sight[i][2] * rgb[2]));
  }
  double x = 0.4124 * c[0] + 0.3576 * c[1] + 0.1805 * c[2];
  double y = 0.2126 * c[0] + 0.7152 * c[1] + 0.0722 * c[2];
  double z = 0.0193 * c[0] + 0.1192 * c[1] + 0.9505 * c[2];
  double fx = cube_root(x / 0.95047), fy = cube_root(y),
         fz = cube_root(z / 1.08883);
  return (struct lab){{116 * fy - 16, 500 * (fx - fy), 200 * (fy - fz)}, y};
}

static double apart(struct lab a, struct lab b) {
  return sqrt(pow(a.at[0] - b.at[0], 2) + pow(a.at[1] - b.at[1], 2) +
              pow(a.at[2] - b.at[2], 2));
}

static double contrast(int a, int b) {
  double x = see(a, false).luminance + 0.05, y = see(b, false).luminance + 0.05;
  return x > y ? x / y : y / x;
}

/* The outlines do: fills are pale. */
static void families_differ_in_grey_and_to_deuteranopes(void **state) {
  enum { CONVOLUTION = 0, ATTENTION = 9 }; /* in one picture most often */
  (void)state;
  for (int i = 0; i < PALETTE_FAMILIES; i++) {
    struct lab a = see(palette_outline(i), false);
    assert_true(contrast(palette_fill(i), PALETTE_INK) >= 12);
    assert_true(contrast(palette_fill(i), PALETTE_NOTES) >= 4.5);
    assert_true(contrast(palette_outline(i), PALETTE_PAPER) >= 3);
    for (int k = 0; k < i; k++) {
      struct lab b = see(palette_outline(k), false);
      assert_true(fabs(a.at[0] - b.at[0]) >= 3.7);
      assert_true(apart(a, b) >= 15);
      assert_true(apart(see(palette_outline(i), true),
                        see(palette_outline(k), true)) >= 15);
    }
  }
  assert_true(apart(see(palette_outline(CONVOLUTION), false),
                    see(palette_outline(ATTENTION), false)) >= 35);
  for (int i = 0; i + 1 < PALETTE_HEATS; i++) {
    struct lab less = see(palette_heat(i), false);
    struct lab more = see(palette_heat(i + 1), false);
    assert_true(less.at[0] - more.at[0] >= 4);
    assert_true((more.luminance + 0.05) / 0.05 >= 6);
  }
}

/* WCAG 2.1: 4.5 for text, 3 for lines. Words stand in frames, too. */
static void a_dark_screen_shows_what_paper_does(void **state) {
  (void)state;
  const struct palette_ink *paper = NULL, *repeats = NULL;
  for (int i = 0; i < PALETTE_INKS; i++) {
    if (palette_inks[i].light == PALETTE_PAPER)
      paper = &palette_inks[i];
    if (palette_inks[i].light == PALETTE_REPEATS)
      repeats = &palette_inks[i];
  }
  assert_non_null(paper);
  assert_non_null(repeats);
  for (int i = 0; i < PALETTE_INKS; i++) {
    const struct palette_ink *ink = &palette_inks[i];
    double least = ink->light == PALETTE_WORDS ? 4.5 : 3;
    if (ink == paper || ink == repeats)
      continue;
    assert_true(contrast(ink->light, paper->light) >= least);
    assert_true(contrast(ink->light, repeats->light) >= least);
    assert_true(contrast(ink->dark, paper->dark) >= least);
    assert_true(contrast(ink->dark, repeats->dark) >= least);
  }
  /* Boxes, whose letters are black, keep their fills. */
  for (int i = 0; i < PALETTE_FAMILIES; i++)
    assert_true(contrast(palette_fill(i), paper->dark) >= 3);
  for (int i = 0; i < PALETTE_HEATS; i++)
    assert_true(contrast(palette_heat(i), paper->dark) >= 3);
}

/* Text outside of boxes has a colour that changes. */
static void all_words_and_lines_outside_of_boxes_change(void **state) {
  (void)state;
  const char *dir = scratch("diagram-inks");
  struct run r =
      run("r=$PWD; cd %s && e=$r/examples && " NETC_PATH " $e/unet.net -o "
          "a.svg && " NETC_PATH " $e/zoo/resnet.net -o b.svg && " NETC_PATH
          " $e/zoo/densenet.net --fill=macs -o c.svg && " NETC_PATH
          " $e/inception.net --direction=lr -o d.svg && $r/tests/diagrams.py "
          "inks *.svg",
          dir);
  if (r.status)
    print_error("%s", r.err);
  assert_int_equal(r.status, 0);
  run_free(&r);
}

int main(void) {
  static const struct CMUnitTest others[] = {
      cmocka_unit_test(repeats_are_drawn_once),
      cmocka_unit_test(what_all_turns_read_is_named),
      cmocka_unit_test(modules_of_many_branches_are_drawn_once),
      cmocka_unit_test(turns_that_differ_in_figures_are_drawn_once),
      cmocka_unit_test(turns_that_move_and_drop_otherwise_are_drawn_once),
      cmocka_unit_test(turns_that_are_read_one_by_one_are_drawn_each),
      cmocka_unit_test(equal_calls_are_drawn_once),
      cmocka_unit_test(a_long_call_keeps_its_title),
      cmocka_unit_test(a_tail_of_all_stands_in_the_legend),
      cmocka_unit_test(skips_that_nest_make_a_u),
      cmocka_unit_test(maps_of_one_size_share_a_row),
      cmocka_unit_test(a_source_stands_beside_what_it_feeds),
      cmocka_unit_test(branches_stand_as_in_the_source),
      cmocka_unit_test(a_shape_is_said_where_it_changes),
      cmocka_unit_test(notes_and_heat_are_on_demand),
      cmocka_unit_test(boxes_have_ids_tooltips_and_links),
      cmocka_unit_test(links_lead_to_the_source_from_anywhere),
      cmocka_unit_test(equal_nets_give_equal_bytes),
      cmocka_unit_test(hostile_names_do_no_harm),
      cmocka_unit_test(the_diagrams_of_the_manual_are_current),
      cmocka_unit_test(the_gallery_is_current),
      cmocka_unit_test(only_png_needs_graphviz),
      cmocka_unit_test(deep_nests_need_little_stack),
      cmocka_unit_test(a_png_that_viewers_refuse_is_said_so),
      slow_test(ten_thousand_layers_are_split_into_pages),
      cmocka_unit_test(a_dark_screen_shows_what_paper_does),
      cmocka_unit_test(all_words_and_lines_outside_of_boxes_change),
      cmocka_unit_test(families_differ_in_grey_and_to_deuteranopes),
  };
  struct paths nets = find_paths("examples", ".net");
  struct zoo_row *rows = calloc(nets.count, sizeof *rows);
  for (size_t i = 0; rows && i < nets.count; i++)
    snprintf(rows[i].net, sizeof rows[i].net, "%s", nets.at[i]);
  int failed = run_table("diagrams", rows, nets.count, sizeof *rows, check_zoo,
                         others, sizeof others / sizeof *others);
  paths_free(&nets);
  free(rows);
  return failed;
}
