/*
 * names.c - which texts of a class file are names and descriptors (JVMS 4.2 to 4.4.7).
 */

#include "vm.h"
#include <string.h>

/* Whether the bytes are Java's form of UTF-8. Surrogates may stand alone. */
bool text_is_utf8(const uint8_t *s, uint32_t length)
{
	for (uint32_t i = 0; i < length; i++) {
		int more = s[i] < 0x80             ? 0
			   : (s[i] & 0xe0) == 0xc0 ? 1
			   : (s[i] & 0xf0) == 0xe0 ? 2
						   : -1;

		if (s[i] == 0 || more < 0 || length - i <= (uint32_t)more)
			return false;
		while (more-- > 0)
			if ((s[++i] & 0xc0) != 0x80)
				return false;
	}
	return true;
}

/* Length of the type at the beginning of a descriptor; 0: none. */
size_t descriptor_type(const char *desc, size_t length)
{
	size_t i = 0;

	while (i < length && desc[i] == '[')
		i++;
	if (i == length || i > 255)
		return 0;
	if (strchr("BCDFIJSZ", desc[i]) != NULL)
		return i + 1;
	if (desc[i] != 'L')
		return 0;
	for (size_t begin = ++i; i < length; i++) {
		if (desc[i] == ';')
			return i == begin ? 0 : i + 1;
		if (desc[i] == '.' || desc[i] == '[')
			return 0;
	}
	return 0;
}

bool descriptor_check(const char *desc, size_t length, bool method)
{
	size_t i = 0, n, places = 1;

	if (!method)
		return length != 0 && descriptor_type(desc, length) == length;
	if (length == 0 || desc[i++] != '(')
		return false;
	while (i < length && desc[i] != ')') {
		n = descriptor_type(desc + i, length - i);
		places += n == 1 && (desc[i] == 'J' || desc[i] == 'D') ? 2 : 1;
		if (n == 0 || places > 255)
			return false;
		i += n;
	}
	if (i >= length)
		return false;
	i++;
	return (length - i == 1 && desc[i] == 'V') ||
	       (i < length && descriptor_type(desc + i, length - i) == length - i);
}

bool name_is_unqualified(const struct symbol *s, bool method)
{
	if (s->length == 0)
		return false;
	if (method && (s == known.init || s == known.clinit))
		return true;
	for (size_t i = 0; i < s->length; i++)
		if (strchr(method ? ".;[/<>" : ".;[/", s->text[i]) != NULL)
			return false;
	return true;
}

bool name_is_class(const struct symbol *s)
{
	if (s->length == 0 || s->text[0] == '/' || s->text[s->length - 1] == '/')
		return false;
	if (s->text[0] == '[')
		return descriptor_type(s->text, s->length) == s->length;
	for (size_t i = 0; i < s->length; i++)
		if (strchr(".;[", s->text[i]) != NULL ||
		    (s->text[i] == '/' && s->text[i + 1] == '/'))
			return false;
	return true;
}
