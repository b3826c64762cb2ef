/* XML: text without characters that XML forbids, and escapes. */
#ifndef NETC_BASE_XML_H
#define NETC_BASE_XML_H

#include "base/text.h"

/* As UTF-8, with invisible control characters replaced. */
void text_put_clean(struct text *out, struct slice text);

/* As text_put_clean(), for an XML element or a quoted attribute. */
void put_xml(struct text *out, struct slice text);

#endif
