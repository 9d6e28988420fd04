// What part of the time is shown: a window [a, b], and the cursor `now`, whose moment all states on the page
// are of.  All runs on a page share it, since their times count from the begin of each.

const SPAN = 200, MARGIN = 0.02;
const LIVE = 1e10; // a guest that runs longer is shown in a window that moves

export class Time {
	constructor() {
		this.a = 0;
		this.b = 1e6;
		this.now = 0;
		this.playing = true;
		this.live = true; // the cursor is at the end of what is known
		this.speed = 0; // virtual nanoseconds a second of the host; 0: chosen so that the run takes half a minute
		this.fit = true; // the window holds the whole run, as long as nobody zooms
	}

	// The recording has grown or time has passed: `seconds` of the host's.  begin and end: of the runs.
	advance(seconds, begin, end, over) {
		if (!this.playing || !(end > begin))
			return;
		if (this.live) {
			this.now = end;
			this.playing = !over;
		} else {
			this.now = Math.min(end, this.now + seconds * this.rate(begin, end));
			if (this.now == end) {
				this.live = !over;
				this.playing = !over;
			}
		}
		if (this.fit) {
			// The window grows in steps, so that lines stand still between two of them.
			const span = end - begin;
			if (this.live && !over && span > LIVE)
				this.set(end - 0.96 * LIVE, end + 0.04 * LIVE);
			else if (end > this.b || begin < this.a || this.b - this.a > 4 * span || over)
				this.set(begin - MARGIN * span, over ? end + MARGIN * span : begin + 1.5 * span);
		} else {
			this.follow();
		}
	}

	// Virtual nanoseconds a second of the host.
	rate(begin, end) {
		return this.speed || (end - begin) / 30;
	}

	set(a, b) {
		this.a = a;
		this.b = Math.max(b, a + SPAN);
	}

	// Moves the window so that the cursor is inside, and not at its very end.
	follow() {
		const span = this.b - this.a;
		if (this.now > this.b - 0.1 * span)
			this.a = this.now - 0.9 * span;
		else if (this.now < this.a + 0.02 * span)
			this.a = this.now - 0.1 * span;
		this.b = this.a + span;
	}

	zoom(factor, around = this.now) {
		this.fit = false;
		const span = Math.max(SPAN, Math.min(1e15, (this.b - this.a) * factor));
		const part = (around - this.a) / (this.b - this.a);
		this.a = around - part * span;
		this.b = this.a + span;
	}

	pan(by) {
		this.fit = false;
		this.a += by;
		this.b += by;
	}

	go(to) {
		this.now = to;
		this.playing = this.live = false;
		if (to < this.a || to > this.b)
			this.follow();
	}
}

const UNITS = [[1e9, "s"], [1e6, "ms"], [1e3, "µs"], [1, "ns"]];

// A time in a unit that is easily read.
export function said(ns, digits = 3) {
	const size = Math.abs(ns), [unit, sign] = UNITS.find(([one]) => size >= one) ?? [1, "ns"];
	const value = ns / unit;
	return `${unit == 1 ? Math.round(value) : value.toPrecision(Math.max(digits, `${Math.trunc(Math.abs(value))}`.length))} ${sign}`;
}

// The exact time, with spaces between thousands.
export function exactly(ns) {
	return `${Math.round(ns)}`.replace(/\B(?=(\d{3})+$)/g, "\u202f") + " ns";
}

// Where marks stand on the axis: [[time, text]...], about one each `every` pixels.
export function marks(a, b, width, every) {
	const raw = (b - a) / width * every, power = 10 ** Math.floor(Math.log10(raw));
	const step = power * [1, 2, 5, 10].find(one => one * power >= raw);
	const [unit, sign] = UNITS.find(([one]) => step >= one) ?? [1, "ns"];
	const places = Math.max(0, Math.ceil(-Math.log10(step / unit) - 1e-9));
	const found = [];
	for (let t = Math.ceil(a / step) * step; t <= b; t += step)
		found.push([t, `${(t / unit).toFixed(places)} ${sign}`]);
	return found;
}
