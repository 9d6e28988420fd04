// Which thread is on which LWP, and which LWP is on which CPU: three rows of boxes with lines between them.
// Lines move to their new places.  Arcs above the threads: what a thread waits for that another one holds
// (broken), and the wake-ups just before the cursor (with an arrow from the waker).
import {Sheet} from "./rows.js";
import {commandFirst} from "./section.js";
import {BLOCKED, CPU, LWP, ON_LWP, THREAD, inkOn} from "./states.js";
import {NONE} from "./store.js";

const BOX = 21, LEAST = 25, MOST = 74, GAP = 3, MOVE = 180, WAKES = 6;

export class Mapping {
	constructor(run, page) {
		this.run = run;
		this.page = page;
		this.canvas = document.createElement("canvas");
		this.canvas.className = "mapping";
		this.canvas.setAttribute("role", "img");
		this.canvas.ariaLabel = "which thread is on which LWP, and which LWP on which CPU";
		this.sheet = new Sheet(this.canvas, page.theme);
		this._ends = new Map(); // where the end of each line is: {from, to, since}
		this.boxes = []; // {object, kind, x, y, width}
	}

	draw(host) {
		const {sheet, page, run} = this, {store} = run, now = Math.min(page.time.now, store.end);
		sheet.begin(page.time, 0);
		const high = sheet.height;
		this.boxes = [];
		const lwps = alive(store.lwps, now).filter(one => this._isShown(one, now));
		const rows = {thread: 0.24 * high, lwp: 0.60 * high, cpu: high - BOX - 5};
		const wanted = this._threads(now);
		const at = {thread: this._row("thread", wanted.shown, rows.thread, THREAD, now),
			lwp: this._row("lwp", lwps, rows.lwp, LWP, now),
			cpu: this._row("cpu", store.cpus, rows.cpu, CPU, now)};
		this._words(rows, wanted);
		for (const thread of wanted.shown)
			this._line(host, `t${thread.id}`, at.thread.get(thread), at.lwp.get(store.lwps[value(thread.track, "x", now)]),
				THREAD[ON_LWP][1], thread.track.stateAt(now) != ON_LWP);
		for (const lwp of lwps)
			if (lwp.track.stateAt(now) >= 4)
				this._line(host, `l${lwp.id}`, at.lwp.get(lwp), at.cpu.get(store.cpus[value(lwp.track, "x", now)]),
					LWP[lwp.track.stateAt(now)][1], lwp.track.stateAt(now) == 4);
		for (const box of this.boxes)
			this._box(box);
		this._waits(at.thread, wanted.shown, now);
		this._wakes(at.thread, now);
	}

	// LWPs of programs that have a thread on the page, and of all while there is room.
	_isShown(lwp, now) {
		return this.run.store.lwps.length <= 24 || lwp.track.stateAt(now) >= 4 || lwp == this.page.chosen?.object ||
			this.run.hasThread(lwp, now);
	}

	// Those that have an LWP or could have one first; all if there is room.  Of the rest the numbers are told.
	_threads(now) {
		const {run, sheet, page} = this, room = 3 * Math.floor((sheet.width - 8) / (LEAST + GAP));
		const all = alive(run.store.threads, now);
		if (all.length <= room)
			return {shown: all, rest: null};
		const rank = one => one == page.chosen?.object ? 9 : one.track.stateAt(now);
		const some = all.filter(one => rank(one) > BLOCKED);
		const shown = new Set(some.sort((p, q) => rank(q) - rank(p)).slice(0, room));
		const rest = new Int32Array(THREAD.length);
		for (const one of all)
			if (!shown.has(one))
				rest[one.track.stateAt(now)]++;
		return {shown: all.filter(one => shown.has(one)), rest};
	}

	// Boxes beside each other, in up to three lines around y.  The second line is set off by half a box, so that lines
	// go between the boxes of the first.  Returns {object: where its lines begin and end}.
	_row(kind, objects, y, states, now) {
		const {sheet} = this, places = new Map();
		const inLine = Math.max(1, Math.floor((sheet.width - 8) / (LEAST + GAP)));
		const lines = Math.max(1, Math.min(3, Math.ceil(objects.length / inLine)));
		const many = Math.ceil(objects.length / lines) || 1;
		const columns = many + (lines > 1 ? 0.5 : 0), high = BOX + GAP;
		const width = Math.min(MOST, (sheet.width - 8) / columns - GAP);
		const left = (sheet.width - columns * (width + GAP) + GAP) / 2;
		const above = y - (lines - 1) / 2 * high, below = above + (lines - 1) * high + BOX;
		objects.forEach((object, i) => {
			const line = Math.floor(i / many), x = left + (i % many + line % 2 / 2) * (width + GAP);
			const top = above + line * high;
			const state = object.track.stateAt(now);
			this.boxes.push({object, kind, x, y: top, width, colour: states[state][1]});
			places.set(object, {x: x + width / 2, y: top, bottom: top + BOX, above, below});
		});
		return places;
	}

	_box({object, x, y, width, colour}) {
		const {sheet, page} = this, {c} = sheet, isChosen = object == page.chosen?.object;
		c.fillStyle = colour;
		c.fillRect(x, y, width, BOX);
		c.lineWidth = isChosen ? 3 : 1;
		c.strokeStyle = isChosen ? page.theme.ink : page.theme.line;
		c.strokeRect(x, y, width, BOX);
		const label = object.name && width > 50 ? `${object.label} ${object.name}` : object.label;
		sheet.text(label.replace("CPU ", width < 44 ? "" : "CPU "), x + width / 2, y + BOX / 2 + 0.5, inkOn(colour),
			label.length > 3 && width < 44 ? 10 : 12, "center", width - 3);
	}

	// From the bottom of the upper box to the top of the lower one; the lower end moves to a new place.
	_line(host, key, from, to, colour, broken) {
		const ends = this._ends;
		if (!from || !to) {
			ends.delete(key);
			return;
		}
		let end = ends.get(key);
		if (!end)
			ends.set(key, end = {from: to.x, to: to.x, since: -MOVE});
		const part = Math.min(1, (host - end.since) / MOVE), x = end.from + (end.to - end.from) * part * (2 - part);
		if (Math.abs(end.to - to.x) > 0.5)
			Object.assign(end, {from: x, to: to.x, since: host});
		this._stroke(from, x, to, colour, broken);
	}

	// Straight past the boxes of the same kind, and in a curve between the kinds.
	_stroke(from, toX, to, colour, broken) {
		const {c} = this.sheet, middle = (from.below + to.above) / 2;
		c.setLineDash(broken ? [4, 3] : []);
		c.beginPath();
		c.moveTo(from.x, from.bottom);
		c.lineTo(from.x, from.below);
		c.bezierCurveTo(from.x, middle, toX, middle, toX, to.above);
		c.lineTo(toX, to.y);
		c.lineWidth = 4;
		c.strokeStyle = this.page.theme.ground;
		c.stroke();
		c.lineWidth = 2.4;
		c.strokeStyle = colour;
		c.stroke();
		c.setLineDash([]);
	}

	_words(rows, {rest}) {
		const {sheet, page} = this, faint = page.theme.faint;
		sheet.text("threads", 4, 8, faint, 11);
		sheet.text("LWPs", 4, (rows.thread + rows.lwp + BOX) / 2 + 12, faint, 11);
		sheet.text("CPUs", 4, (rows.lwp + rows.cpu + BOX) / 2 + 12, faint, 11);
		if (!rest)
			return;
		const parts = [];
		for (let s = THREAD.length - 1; s > 0; s--)
			if (rest[s] > 0)
				parts.push(`${rest[s]} ${THREAD[s][0]}`);
		sheet.text(`and ${parts.join(", ")}`, sheet.width - 6, 8, page.theme.ink, 12, "right");
	}

	// An arc above the boxes of two threads.
	_arc(from, to, colour, broken, strength, arrow) {
		const {c} = this.sheet, high = Math.min(from.y, to.y) - 6 - Math.min(30, Math.abs(to.x - from.x) / 6);
		c.globalAlpha = strength;
		c.setLineDash(broken ? [3, 3] : []);
		c.lineWidth = 1.6;
		c.strokeStyle = c.fillStyle = colour;
		c.beginPath();
		c.moveTo(from.x, from.y);
		c.quadraticCurveTo((from.x + to.x) / 2, high - 8, to.x, to.y - (arrow ? 5 : 0));
		c.stroke();
		c.setLineDash([]);
		if (arrow) {
			c.beginPath();
			c.moveTo(to.x, to.y);
			c.lineTo(to.x - 4, to.y - 7);
			c.lineTo(to.x + 4, to.y - 7);
			c.fill();
		}
		c.globalAlpha = 1;
	}

	_waits(at, threads, now) {
		const {store} = this.run;
		for (const thread of threads) {
			const text = value(thread.track, "y", now);
			if (text == NONE)
				continue;
			const owner = at.get(store.threads[store.ownerOf(text, now)]);
			if (owner && owner != at.get(thread))
				this._arc(at.get(thread), owner, THREAD[BLOCKED][1], true, 1, false);
		}
	}

	_wakes(at, now) {
		const {run, page} = this, {time} = page, recent = 0.04 * (time.b - time.a);
		for (const i of run.wakesBetween(now - recent, now, 1, Infinity).slice(-WAKES)) {
			const wake = run.store.wake(i), from = at.get(wake.waker), to = at.get(wake.woken);
			if (from && to && from != to)
				this._arc(from, to, page.theme.ink, false, 1 - 0.7 * (now - wake.t) / recent, true);
		}
	}

	objectAt(x, y) {
		const box = this.boxes.find(one => x >= one.x && x <= one.x + one.width && y >= one.y && y <= one.y + BOX);
		return box ?? null;
	}
}

function alive(objects, now) {
	return objects.filter(one => one && one.track.stateAt(now) != 0).sort(commandFirst);
}

function value(track, column, now) {
	const i = track.at(now);
	return i < 0 ? NONE : track[column].a[i];
}
