// @ts-check
import { element } from "./draw.js";

// The little of Markdown that guidelines need: headings, lists, paragraphs, bold, italic, code, links. All of it as text.
/** @type {[RegExp, string][]} */
const BLOCKS = [[/^(#{1,3})\s+(.*)$/, "heading"], [/^\s*[-*+]\s+(.*)$/, "ul"], [/^\s*\d+[.)]\s+(.*)$/, "ol"]];
const INLINE = /\*\*(.+?)\*\*|\*(.+?)\*|(?<!\w)_(.+?)_(?!\w)|`(.+?)`|\[(.+?)\]\((https?:\/\/[^\s)]+)\)/g;

export function drawMarkdown(text) {
  const parts = [];
  let open = null; // the list or paragraph that the next line may go on
  for (const line of text.split(/\r?\n/)) {
    const [match, kind] = BLOCKS.map(([form, name]) => /** @type {[string[], string]} */ ([form.exec(line), name])).find(([one]) => one) ?? [[], "p"];
    if (!line.trim()) {
      open = null;
    } else if (kind === "heading") {
      open = null;
      parts.push(element("h2", {}, ...drawInline(match[2])));
    } else if (kind === "p") {
      const last = open?.lastElementChild?.localName === "li" ? open.lastElementChild : open;
      if (last) last.append(" ", ...drawInline(line.trim()));
      else parts.push((open = element("p", {}, ...drawInline(line.trim()))));
    } else {
      if (open?.localName !== kind) parts.push((open = element(kind, {})));
      open.append(element("li", {}, ...drawInline(match[1])));
    }
  }
  return parts;
}

function drawInline(text) {
  const parts = [];
  let from = 0;
  for (const match of text.matchAll(INLINE)) {
    const [whole, bold, italic, under, code, words, address] = match;
    parts.push(text.slice(from, match.index));
    if (address) parts.push(element("a", { href: address, target: "_blank", rel: "noopener noreferrer" }, words));
    else if (bold) parts.push(element("strong", {}, bold));
    else if (code) parts.push(element("code", {}, code));
    else parts.push(element("em", {}, italic ?? under));
    from = match.index + whole.length;
  }
  return [...parts, text.slice(from)];
}
