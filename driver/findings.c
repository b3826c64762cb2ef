/* Findings: errors and warnings as SARIF or JUnit. */
#include "driver/findings.h"

#include <stdlib.h>
#include <string.h>

#include "base/json.h"
#include "base/xml.h"
#include "driver/command.h"

/* Like the style of complaints, this is state of the program. */
static struct {
  struct arena arena;
  int style;        /* 0: closed */
  const char *file; /* that is checked now */
  VEC(struct file_finding) all;
} findings;

void findings_open(int style) {
  arena_open(&findings.arena, NULL, NULL);
  findings.style = style;
}

bool findings_are_open(void) {
  return findings.style != 0;
}

void findings_about(const char *file) {
  findings.file = file;
}

static const char *keep(const char *text) {
  size_t size = text ? strlen(text) + 1 : 0;
  char *kept = text ? arena_alloc(&findings.arena, size, 1) : NULL;
  if (kept)
    memcpy(kept, text, size);
  return kept;
}

void findings_add(const struct file_finding *finding) {
  struct file_finding *kept = VEC_PUSH(&findings.arena, &findings.all);
  *kept = *finding;
  kept->slug = keep(finding->slug);
  kept->message = keep(finding->message);
  kept->file = finding->file ? keep(finding->file) : findings.file;
}

void findings_add_net(struct netc *netc) {
  for (size_t i = 0; i < netc_diagnostic_count(netc); i++) {
    struct netc_diagnostic d = {.size = sizeof d};
    if (netc_diagnostic(netc, i, &d) != NETC_OK)
      return;
    struct file_finding found = {.slug = d.slug,
                                 .message = d.message,
                                 .file = d.net ? d.net : d.place.file,
                                 .error = d.severity == NETC_SEVERITY_ERROR};
    if (!d.net) {
      found.line = d.place.line;
      found.column = d.place.column;
      found.end_line = d.place.end_line;
      found.end_column = d.place.end_column;
    }
    findings_add(&found);
  }
}

/* SARIF */

static void put_rules(struct json *json) {
  json_member_open(json, "rules", '[');
  for (size_t i = 0; i < findings.all.count; i++) {
    const char *slug = findings.all.at[i].slug;
    size_t first = 0;
    while (strcmp(findings.all.at[first].slug, slug) != 0)
      first++;
    if (first < i)
      continue;
    json_put_open(json, '{');
    json_member_string(json, "id", slice_of(slug));
    json_put_close(json, '}');
  }
  json_put_close(json, ']');
}

static void put_region(struct json *json, const struct file_finding *f) {
  json_member_open(json, "region", '{');
  json_member_int(json, "startLine", (int64_t)f->line);
  json_member_int(json, "startColumn", (int64_t)f->column);
  json_member_int(json, "endLine", (int64_t)f->end_line);
  json_member_int(json, "endColumn", (int64_t)f->end_column);
  json_put_close(json, '}');
}

/* A path as a relative reference: characters outside of RFC 3986's unreserved
 * ones and `/` are percent-encoded. */
static void put_uri(struct json *json, const char *path) {
  static const char digits[] = "0123456789ABCDEF";
  struct text uri = text_new(&findings.arena);
  for (const char *at = path; *at; at++) {
    unsigned char c = (unsigned char)*at;
    if (is_word_byte(*at) || strchr("-.~/", *at)) {
      text_putc(&uri, *at);
    } else {
      text_putc(&uri, '%');
      text_putc(&uri, digits[c >> 4]);
      text_putc(&uri, digits[c & 15]);
    }
  }
  json_member_string(json, "uri", text_slice(&uri));
}

static void put_result(struct json *json, const struct file_finding *f) {
  json_put_open(json, '{');
  json_member_string(json, "ruleId", slice_of(f->slug));
  json_member_string(json, "level", slice_of(f->error ? "error" : "warning"));
  json_member_open(json, "message", '{');
  json_member_string(json, "text", slice_of(f->message));
  json_put_close(json, '}');
  if (f->file) {
    json_member_open(json, "locations", '[');
    json_put_open(json, '{');
    json_member_open(json, "physicalLocation", '{');
    json_member_open(json, "artifactLocation", '{');
    put_uri(json, f->file);
    json_put_close(json, '}');
    if (f->line)
      put_region(json, f);
    json_put_close(json, '}');
    json_put_close(json, '}');
    json_put_close(json, ']');
  }
  json_put_close(json, '}');
}

static void write_sarif(struct text *out) {
  struct json json = json_writer(out, 5);
  json_put_open(&json, '{');
  json_member_string(&json, "$schema",
                     slice_of("https://json.schemastore.org/sarif-2.1.0.json"));
  json_member_string(&json, "version", slice_of("2.1.0"));
  json_member_open(&json, "runs", '[');
  json_put_open(&json, '{');
  json_member_open(&json, "tool", '{');
  json_member_open(&json, "driver", '{');
  json_member_string(&json, "name", slice_of("netc"));
  json_member_string(&json, "version", slice_of(NETC_VERSION));
  put_rules(&json);
  json_put_close(&json, '}');
  json_put_close(&json, '}');
  json_member_string(&json, "columnKind", slice_of("unicodeCodePoints"));
  json_member_open(&json, "results", '[');
  for (size_t i = 0; i < findings.all.count; i++)
    put_result(&json, &findings.all.at[i]);
  json_put_close(&json, ']');
  json_put_close(&json, '}');
  json_put_close(&json, ']');
  json_put_close(&json, '}');
  text_putc(out, '\n');
}

/* JUnit */

static bool is_about(const struct file_finding *f, const char *file) {
  return f->file && strcmp(f->file, file) == 0;
}

static size_t count_errors(const char *file) {
  size_t errors = 0;
  for (size_t i = 0; i < findings.all.count; i++)
    errors += findings.all.at[i].error &&
              (!file || is_about(&findings.all.at[i], file));
  return errors;
}

static void put_finding(struct text *out, const struct file_finding *f) {
  struct text whole = text_new(&findings.arena);
  if (f->line)
    text_printf(&whole, "%s:%zu:%zu: ", f->file, f->line, f->column);
  text_printf(&whole, "%s [%s]", f->message, f->slug);
  text_put(out, f->error ? "    <failure type=\"" : "    <system-out>");
  if (f->error) {
    put_xml(out, slice_of(f->slug));
    text_put(out, "\" message=\"");
    put_xml(out, slice_of(f->message));
    text_put(out, "\">");
  }
  put_xml(out, text_slice(&whole));
  text_put(out, f->error ? "</failure>\n" : "</system-out>\n");
}

/* A file that a net uses has its findings in a case of its own. */
static void put_case(struct text *out, const char *file) {
  text_put(out, "  <testcase classname=\"netc\" name=\"");
  put_xml(out, slice_of(file));
  text_put(out, "\">\n");
  for (int warnings = 0; warnings < 2; warnings++)
    for (size_t i = 0; i < findings.all.count; i++)
      if (is_about(&findings.all.at[i], file) &&
          findings.all.at[i].error == !warnings)
        put_finding(out, &findings.all.at[i]);
  text_put(out, "  </testcase>\n");
}

static bool is_among(char *const *files, int count, const char *file) {
  for (int i = 0; i < count; i++)
    if (strcmp(files[i], file) == 0)
      return true;
  return false;
}

static bool is_first(size_t index) {
  for (size_t i = 0; i < index; i++)
    if (is_about(&findings.all.at[i], findings.all.at[index].file))
      return false;
  return true;
}

static void write_junit(struct text *out, char *const *files, int count) {
  struct text cases = text_new(&findings.arena);
  size_t number = (size_t)count;
  for (int i = 0; i < count; i++)
    put_case(&cases, files[i]);
  for (size_t i = 0; i < findings.all.count; i++) {
    const char *file = findings.all.at[i].file;
    if (!file || is_among(files, count, file) || !is_first(i))
      continue;
    put_case(&cases, file);
    number++;
  }
  text_printf(out,
              "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n"
              "<testsuite name=\"netc\" tests=\"%zu\" failures=\"%zu\">\n",
              number, count_errors(NULL));
  text_puts(out, text_slice(&cases));
  text_put(out, "</testsuite>\n");
}

int findings_write(char *const *files, int count) {
  char room[4096];
  struct text out = text_by(room, sizeof room, file_sink, stdout);
  struct text whole = text_new(&findings.arena);
  if (findings.style == STYLE_SARIF)
    write_sarif(&whole);
  else
    write_junit(&whole, files, count);
  text_puts(&out, text_slice(&whole));
  text_flush(&out);
  arena_close(&findings.arena);
  findings.style = 0;
  findings.all.count = 0;
  return finish_stdout();
}
