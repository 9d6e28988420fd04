// Histories drawn as rows: along a row is the time, and its colour is the state.
import {inkOn} from "./states.js";

const WORD = 34; // pixels: a piece at least so wide has its word in it
const sums = new Float64Array(16);

// What is drawn on: the canvas's context, its width, and the window of time.
export class Sheet {
	constructor(canvas, theme) {
		this.canvas = canvas;
		this.theme = theme;
		this.c = canvas.getContext("2d", {alpha: false});
	}

	// Begins a new picture, of the canvas's size.
	begin(time, left) {
		const {canvas, c} = this, ratio = devicePixelRatio || 1;
		const width = canvas.clientWidth, height = canvas.clientHeight;
		if (canvas.width != Math.round(width * ratio) || canvas.height != Math.round(height * ratio)) {
			canvas.width = Math.round(width * ratio);
			canvas.height = Math.round(height * ratio);
		}
		c.setTransform(ratio, 0, 0, ratio, 0, 0);
		c.fillStyle = this.theme.ground;
		c.fillRect(0, 0, width, height);
		this.width = width;
		this.height = height;
		this.left = left;
		this.a = time.a;
		this.scale = (width - left) / (time.b - time.a);
	}

	x(t) {
		return this.left + (t - this.a) * this.scale;
	}

	t(x) {
		return this.a + (x - this.left) / this.scale;
	}

	text(words, x, y, colour, size = 12, align = "left", width = undefined) {
		const {c} = this;
		c.font = `${size}px system-ui, sans-serif`;
		c.textAlign = align;
		c.textBaseline = "middle";
		c.fillStyle = colour;
		if (width === undefined || c.measureText(words).width <= width) {
			c.fillText(words, x, y);
			return;
		}
		let some = words;
		while (some.length > 1 && c.measureText(some + "…").width > width)
			some = some.slice(0, -1);
		c.fillText(some + "…", x, y);
	}

	rule(x, colour, y = 0, height = this.height) {
		this.c.fillStyle = colour;
		this.c.fillRect(Math.round(x), y, 1, height);
	}
}

// One history, as a row from y on.  What lies after `end` is not known yet.
export function drawRow(sheet, track, states, y, height, end, words = true) {
	const {c, left, width} = sheet;
	const a = sheet.a, b = Math.min(sheet.t(width), end);
	let i = Math.max(0, track.at(a));
	const until = track.at(b);
	if (until < 0 || b <= a)
		return;
	if (until - i > 2 * (width - left)) {
		drawDense(sheet, track, states, y, height, b);
		return;
	}
	const ts = track.t.a, ss = track.s.a;
	while (i <= until) {
		const state = ss[i];
		const from = Math.max(left, sheet.x(ts[i]));
		let j = i + 1;
		while (j <= until && ss[j] == state)
			j++;
		const to = sheet.x(j <= until ? ts[j] : b);
		if (to - from < 1 && j <= until) {
			i = drawPixel(sheet, track, states, y, height, from, b, until, j);
			continue;
		}
		if (state != 0) {
			const colour = states[state][1];
			c.fillStyle = colour;
			c.fillRect(from, y, Math.max(to - from, 0.6), height);
			if (words && to - from > WORD && height >= 10)
				sheet.text(states[state][0], from + 4, y + height / 2 + 0.5, inkOn(colour), Math.min(11, height - 1),
					"left", to - from - 6);
		}
		i = j;
	}
}

// Pieces shorter than a pixel: the pixel has the colour of the state that most of its time was spent in.  Returns
// the index of the change to go on with, `next` or later.
function drawPixel(sheet, track, states, y, height, from, b, until, next) {
	const pixel = Math.floor(from), begin = sheet.t(pixel), end = Math.min(sheet.t(pixel + 1), b);
	fillLongest(sheet, track, states, y, height, pixel, begin, end);
	return end >= b ? until + 1 : Math.max(track.at(end), next);
}

function fillLongest(sheet, track, states, y, height, pixel, begin, end) {
	const out = sums.subarray(0, states.length);
	track.times(begin, end, out);
	let most = 0;
	for (let s = 1; s < states.length; s++)
		if (out[s] > out[most] || (most == 0 && out[s] > 0))
			most = s;
	if (most > 0) {
		sheet.c.fillStyle = states[most][1];
		sheet.c.fillRect(pixel, y, 1, height);
	}
}

// A column of pixels: the numbers of the states, one above the other, from the bottom up.
function drawColumn(c, states, numbers, x, bottom, scale) {
	for (let s = states.length - 1; s > 0; s--) {
		const part = numbers[s] * scale;
		if (part > 0) {
			c.fillStyle = states[s][1];
			c.fillRect(x, bottom - part, 1, part);
			bottom -= part;
		}
	}
}

// Each column of pixels shows the shares of the states in its time.
function drawDense(sheet, track, states, y, height, b) {
	const {c, left, width} = sheet, out = sums.subarray(0, states.length);
	for (let x = left; x < width; x++) {
		const begin = sheet.t(x), end = Math.min(sheet.t(x + 1), b);
		if (begin >= b)
			break;
		track.times(begin, end, out);
		drawColumn(c, states, out, x, y + height, height / (end - begin));
	}
}

// How many threads are in each state, one band above the other.
export function drawCounts(sheet, counts, states, y, height, total, end) {
	const {c, left, width} = sheet, out = sums.subarray(0, states.length);
	if (total == 0)
		return;
	for (let x = left; x < width; x++) {
		const begin = sheet.t(x), until = Math.min(sheet.t(x + 1), end);
		if (begin >= end)
			break;
		counts.means(begin, until, out);
		drawColumn(c, states, out, x, y + height, height / total);
	}
}

// The length of a queue, as an area.
export function drawLevel(sheet, level, y, height, most, end, colour) {
	const {c, left, width} = sheet;
	c.fillStyle = colour;
	for (let x = left; x < width; x++) {
		const begin = sheet.t(x), until = Math.min(sheet.t(x + 1), end);
		if (begin >= end)
			break;
		const part = level.mean(begin, until) / most * height;
		if (part > 0)
			c.fillRect(x, y + height - part, 1, part);
	}
}

// The time of all states but the first, in which the object does not exist.
export function lived(times) {
	let sum = 0;
	for (let s = 1; s < times.length; s++)
		sum += times[s];
	return sum;
}

// Shares of the states from a to b, as a bar, with their percentages where there is room.
export function drawShares(sheet, track, states, x, y, width, height, a, b) {
	const out = sums.subarray(0, states.length), {c} = sheet;
	if (!(b > a))
		return;
	track.times(a, b, out);
	const life = lived(out);
	let at = x;
	for (let s = states.length - 1; s > 0; s--) {
		const part = life > 0 ? out[s] / life * width : 0;
		if (part > 0.3) {
			c.fillStyle = states[s][1];
			c.fillRect(at, y, part, height);
			if (part > 20 && height > 8)
				sheet.text(`${Math.round(100 * out[s] / life)}`, at + part / 2, y + height / 2 + 0.5, inkOn(states[s][1]),
					10.5, "center");
			at += part;
		}
	}
}

// An arrow from the row of the waker to that of the woken.
export function drawArrow(sheet, x, from, to, colour) {
	const {c} = sheet, down = to > from ? 1 : -1;
	c.strokeStyle = c.fillStyle = colour;
	c.lineWidth = 1.2;
	c.beginPath();
	c.moveTo(x, from);
	c.lineTo(x, to - 4 * down);
	c.stroke();
	c.beginPath();
	c.moveTo(x, to);
	c.lineTo(x - 3.2, to - 6 * down);
	c.lineTo(x + 3.2, to - 6 * down);
	c.fill();
	c.beginPath();
	c.arc(x, from, 2, 0, 7);
	c.fill();
}
