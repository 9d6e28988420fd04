// The threads, the LWPs or the CPUs of a run: a heading, and rows that scroll.  A row has the object's name,
// the word of its state at the cursor, the shares of its states, and its history.
import {Sheet, drawArrow, drawCounts, drawLevel, drawRow, drawShares} from "./rows.js";
import {KINDS} from "./states.js";
import {said} from "./time.js";

export const ROW = 17, HEAD_HIGH = 26;
const QUEUE_ROWS = 2; // of the LWPs that wait for CPUs
const MANY = 400;
const ARROW = 9; // pixels of the width that an arrow has, or arrows are not drawn
const TITLES = {thread: "Threads", lwp: "LWPs", cpu: "CPUs"};

export class Section {
	// page: what all sections share: {time, theme, chosen, hover, window()}.
	constructor(run, kind, page, narrow) {
		this.run = run;
		this.kind = kind;
		this.page = page;
		this.states = KINDS[kind];
		this.left = narrow ? 166 : 272;
		this.row = ROW;
		this.grouped = null; // by state; null: if there are many
		this.wanted = ""; // what the search asks for
		this.shown = [];
		this._made();
	}

	_made() {
		const root = this.root = document.createElement("section");
		root.className = `rows ${this.kind}`;
		root.tabIndex = -1;
		this.heading = root.appendChild(document.createElement("h2"));
		this.scroller = root.appendChild(document.createElement("div"));
		this.scroller.className = "scroller";
		this.scroller.tabIndex = 0;
		this.scroller.setAttribute("role", "group");
		this.scroller.setAttribute("aria-label", `${TITLES[this.kind]}: rows`);
		this.canvas = this.scroller.appendChild(document.createElement("canvas"));
		this.canvas.setAttribute("role", "img");
		this.spacer = this.scroller.appendChild(document.createElement("div"));
		this.spacer.className = "spacer";
		this.sheet = new Sheet(this.canvas, this.page.theme);
	}

	get objects() {
		const {store} = this.run;
		return {thread: store.threads, lwp: store.lwps, cpu: store.cpus}[this.kind];
	}

	isGrouped() {
		return this.kind != "cpu" && (this.grouped ?? this.objects.length > MANY) && this.wanted == "";
	}

	// The objects whose rows are there: all that live in the window, and that the search has found.
	choose() {
		const {a, b, now} = this.page.time, words = this.wanted.toLowerCase();
		this.shown = this.objects.filter(one => {
			if (!one?.track.lives(a, b))
				return false;
			return words == "" || this._matches(one, words, now);
		}).sort(commandFirst);
	}

	_matches(one, words, now) {
		const state = this.states[one.track.stateAt(now)][0].toLowerCase();
		return one.label == words || one.name.toLowerCase().includes(words) || state == words ||
			`${one.label} ${one.name}`.toLowerCase().includes(words);
	}

	_title() {
		const {objects} = this, {now} = this.page.time;
		if (this.kind == "cpu")
			return "CPUs, the LWPs that wait for them, and what the monitor takes";
		const parts = [];
		if (this.kind == "thread") {
			const count = this.run.store.counts.at(now);
			for (let s = this.states.length - 1; s > 0; s--)
				if (count[s] > 0)
					parts.push(`${count[s]} ${this.states[s][0]}`);
		}
		const shown = this.wanted ? `${this.shown.length} found of ${objects.length}` : "";
		return [TITLES[this.kind], parts.join(", "), shown].filter(Boolean).join(" · ");
	}

	draw() {
		const title = this._title();
		if (this.heading.textContent != title)
			this.heading.textContent = this.canvas.ariaLabel = title;
		const {sheet, page, run} = this, {time} = page, grouped = this.isGrouped();
		const high = this.scroller.clientHeight;
		const total = grouped ? high : this.rows() * this.row;
		if (this.total != total) {
			this.total = total;
			this.spacer.style.height = `${Math.max(0, total - high)}px`;
		}
		sheet.begin(time, this.left);
		if (grouped)
			this._drawGroups();
		else
			this._drawRows(this.scroller.scrollTop);
		if (time.now >= time.a && time.now <= time.b)
			sheet.rule(sheet.x(time.now), page.theme.ink);
		sheet.rule(this.left - 1, page.theme.line);
		if (run.store.end < time.b && run.store.over)
			sheet.rule(sheet.x(run.store.end), page.theme.line);
	}

	_drawGroups() {
		const {sheet, page, run, states} = this, {store} = run, total = this.objects.length;
		const counts = store.counts, count = counts.at(page.time.now), high = sheet.height;
		drawCounts(sheet, counts, states, 0, high, total, store.end);
		let y = high;
		for (let s = states.length - 1; s > 0; s--) {
			const part = count[s] / total * high;
			sheet.c.fillStyle = states[s][1];
			sheet.c.fillRect(this.left - 14, y - part, 12, part);
			y -= part;
		}
		// Words from below, each at its band or above the one before.
		let at = high + 4, band = high;
		for (let s = states.length - 1; s > 0; s--) {
			const part = count[s] / total * high;
			const middle = Math.min(band - part / 2, at - 15);
			band -= part;
			if (count[s] > 0) {
				sheet.text(`${states[s][0]}: ${count[s]}`, this.left - 20, middle, page.theme.ink, 12, "right", this.left - 24);
				at = middle;
			}
		}
	}

	_drawRows(top) {
		const {sheet, row} = this, first = Math.max(0, Math.floor(top / row));
		this.top = top;
		const visible = this.shown.slice(first, first + Math.ceil(sheet.height / row) + 1);
		visible.forEach((one, i) => this._drawOne(one, (first + i) * row - top));
		if (this.kind == "cpu") {
			this._drawQueue(this.shown.length * row - top);
			if (this._hasCosts())
				this._drawMonitor((this.shown.length + QUEUE_ROWS) * row - top);
		}
		if (this.kind == "thread")
			this._drawWakes();
	}

	_drawOne(one, y) {
		const {sheet, page, states, left, row, run} = this, {theme, time} = page, {c} = sheet;
		const now = Math.min(time.now, run.store.end), state = one.track.stateAt(now);
		const isChosen = page.chosen?.object == one;
		if (isChosen || page.hover == one) {
			c.fillStyle = isChosen ? theme.chosen : theme.hover;
			c.fillRect(0, y, sheet.width, row);
		}
		drawRow(sheet, one.track, states, y + 1, row - 2, run.store.end);
		if (row < 8)
			return;
		const [from, to] = page.window(run), bar = left > 200 ? 84 : 0, middle = y + row / 2 + 0.5;
		const size = Math.min(12, row - 2);
		sheet.text(`${one.label} ${one.name}`, 6, middle, theme.ink, size, "left", left - bar - 108);
		c.fillStyle = states[state][1];
		c.fillRect(left - bar - 99, y + 4, 8, row - 8);
		sheet.text(states[state][0], left - bar - 88, middle, theme.ink, size, "left", 84);
		if (bar > 0)
			drawShares(sheet, one.track, states, left - bar, y + 2, bar - 6, row - 4, from, to);
	}

	_drawQueue(y) {
		const {sheet, page, run, row, left} = this, {store} = run, {theme, time} = page;
		const most = Math.max(2, store.cpus.length, ...visibleLevels(store.waiting, time.a, time.b));
		drawLevel(sheet, store.waiting, y + 2, QUEUE_ROWS * row - 4, most, store.end, KINDS.lwp[4][1]);
		const length = store.waiting.at(Math.min(time.now, store.end));
		sheet.text("Run queue", 6, y + QUEUE_ROWS * row / 2, theme.ink, 12);
		sheet.text(`${length} wait${length == 1 ? "s" : ""}`, left - 8, y + QUEUE_ROWS * row / 2, theme.ink, 12, "right");
		sheet.c.fillStyle = theme.line;
		sheet.c.fillRect(left, y + QUEUE_ROWS * row - 2, sheet.width - left, 1);
	}

	// What the monitor takes of a CPU, in percent of its instructions.  The row is as high as four times the mean
	// of the window; more than that is cut.
	_drawMonitor(y) {
		const {sheet, page, run, row, left} = this, {store} = run, {theme, time} = page;
		const [from, to] = page.window(run);
		const most = Math.max(1, 4 * store.monitorShare(Math.max(0, time.a), Math.min(time.b, store.end)));
		const shown = {mean: (a, b) => Math.min(most, store.monitorShare(a, b))};
		drawLevel(sheet, shown, y + 2, row - 4, most, store.end, theme.faint);
		sheet.text("Monitor", 6, y + row / 2, theme.ink, 12);
		sheet.text(`${percent(store.monitorShare(from, to))} % of a CPU`, left - 8, y + row / 2, theme.ink, 12, "right");
	}

	// Who woke whom: arrows between rows, if they are few enough to be told apart; those of the chosen thread always.
	_drawWakes() {
		const {page, run, sheet} = this, {wakes} = run.store, {a, b} = page.time;
		const chosen = page.chosen?.object;
		const found = run.wakesBetween(a, b, 1,
			(sheet.width - this.left) / ARROW, chosen);
		if (found.length == 0)
			return;
		const rows = new Map(this.shown.map((one, i) => [one, i * this.row - this.top + this.row / 2]));
		for (const i of found) {
			const {woken, waker} = run.store.wake(i), from = rows.get(waker), to = rows.get(woken);
			if (from !== undefined && to !== undefined && from != to)
				drawArrow(sheet, sheet.x(wakes.t.a[i]), from, to, page.theme.ink);
		}
	}

	// The object at a place of the canvas, or null.
	objectAt(x, y) {
		if (this.isGrouped())
			return null;
		return this.shown[Math.floor((y + this.scroller.scrollTop) / this.row)] ?? null;
	}

	// Brings an object's row into view.
	reveal(object) {
		const i = this.shown.indexOf(object);
		if (i < 0)
			return;
		const at = i * this.row, {scroller} = this;
		if (at < scroller.scrollTop)
			scroller.scrollTop = at;
		else if (at + this.row > scroller.scrollTop + scroller.clientHeight)
			scroller.scrollTop = at + this.row - scroller.clientHeight;
	}

	// How many there are, those below the CPUs included.
	rows() {
		return this.shown.length + (this.kind == "cpu" ? QUEUE_ROWS + this._hasCosts() : 0);
	}

	// An old recording has none.
	_hasCosts() {
		return this.run.store.spent.t.n > 0;
	}

	// How high it would like to be, in pixels.
	wish() {
		return HEAD_HIGH + (this.isGrouped() ? 180 : Math.max(1, this.rows()) * this.row);
	}

	// What a pointer says about a piece of the history.
	told(object, t) {
		const i = object.track.at(t);
		if (i < 0)
			return `${object.label} ${object.name}: not yet`;
		const {t: {a: ts, n}, s: {a: ss}} = object.track, end = i + 1 < n ? ts[i + 1] : this.run.store.end;
		return `${object.label} ${object.name}: ${this.states[ss[i]][0]} for ${said(end - ts[i])}`;
	}
}

// Two digits are enough.
function percent(value) {
	return value >= 10 ? value.toFixed(0) : value >= 1 ? value.toFixed(1) : value.toFixed(2);
}

const INIT = 1;

// By the process: the command's objects first, and last those of init, which waits for the end of the command.
export function commandFirst(p, q) {
	return (p.pid == INIT) - (q.pid == INIT) || p.pid - q.pid || p.id - q.id;
}

// Some values of a level in a window, the greatest among them if changes are few.
function visibleLevels(level, a, b) {
	const found = [];
	const step = Math.max(1, Math.floor(level.t.n / 2000));
	for (let i = 0; i < level.t.n; i += step)
		if (level.t.a[i] >= a && level.t.a[i] <= b)
			found.push(level.v.a[i]);
	return found;
}
