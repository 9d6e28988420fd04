"""What a web page says, for the tests."""

from html.parser import HTMLParser


class Page(HTMLParser):
    """What a page loads, its text, and whether its elements are closed."""

    VOID = ("meta", "link", "br", "img")

    def __init__(self, document):
        super().__init__()
        self.loads, self.words, self.open, self.ids, self.links = [], [], [], [], []
        self.feed(document)
        self.close()
        assert self.open == []

    def handle_starttag(self, tag, attributes):
        found = dict(attributes)
        if tag not in self.VOID:
            self.open.append(tag)
        self.loads += [found[name] for name in ("src", "data", "srcset") if name in found]
        if "href" in found:
            (self.links if tag == "a" else self.loads).append(found["href"])
        if "id" in found:
            self.ids.append(found["id"])

    def handle_endtag(self, tag):
        assert self.open.pop() == tag

    def handle_data(self, data):
        self.words.append(data)
