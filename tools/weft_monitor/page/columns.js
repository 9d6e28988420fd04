// Columns of numbers that grow, and what is asked of histories: the state at a time, the time in each state
// over an interval, the mean of a level.  Each answer takes the logarithm of the history's length.

const EVERY = 16; // changes from one sum that is kept to the next

export class Column {
	constructor(Type, capacity = 16) {
		this.a = new Type(capacity);
		this.n = 0;
	}

	push(value) {
		if (this.n == this.a.length) {
			const more = new this.a.constructor(2 * this.n);
			more.set(this.a);
			this.a = more;
		}
		this.a[this.n++] = value;
	}
}

// The last index with a[index] <= value of a sorted column, or -1.
export function last(column, value) {
	let low = 0, high = column.n;
	const a = column.a;
	while (low < high) {
		const middle = (low + high) >> 1;
		if (a[middle] <= value)
			low = middle + 1;
		else
			high = middle;
	}
	return low - 1;
}

// The history of one thread, LWP or CPU.  x: its LWP or CPU, y: what it waits for; -1: none.
export class Track {
	constructor(states) {
		this.states = states;
		this.t = new Column(Float64Array, 8);
		this.s = new Column(Uint8Array, 8);
		this.x = new Column(Int32Array, 8);
		this.y = new Column(Int32Array, 8);
		this._sums = new Column(Float64Array, states);
		this._sum = new Float64Array(states);
		this.wakes = null; // numbers of wake-ups of it
		this.stacks = null; // {t, text}: with which stack it has left
	}

	push(t, s, x, y) {
		const n = this.t.n;
		if (n > 0)
			this._sum[this.s.a[n - 1]] += t - this.t.a[n - 1];
		if (n % EVERY == 0)
			for (const one of this._sum)
				this._sums.push(one);
		this.t.push(t);
		this.s.push(s);
		this.x.push(x);
		this.y.push(y);
	}

	at(t) {
		return last(this.t, t);
	}

	stateAt(t) {
		const i = this.at(t);
		return i < 0 ? 0 : this.s.a[i];
	}

	// Is it there at some time from a to b?
	lives(a, b) {
		const until = this.at(b);
		for (let i = Math.max(0, this.at(a)); i <= until; i++)
			if (this.s.a[i] != 0)
				return true;
		return false;
	}

	// Adds the time in each state up to t, times a sign.
	_add(t, sign, out) {
		const i = this.at(t);
		if (i < 0)
			return;
		const {t: {a: ts}, s: {a: ss}, states} = this;
		let k = i - i % EVERY;
		const base = k / EVERY * states;
		for (let s = 0; s < states; s++)
			out[s] += sign * this._sums.a[base + s];
		for (; k < i; k++)
			out[ss[k]] += sign * (ts[k + 1] - ts[k]);
		out[ss[i]] += sign * (t - ts[i]);
	}

	// The time in each state from a to b, into `out`.
	times(a, b, out) {
		out.fill(0);
		this._add(b, 1, out);
		this._add(a, -1, out);
		return out;
	}
}

// A number that changes: the length of a queue.
export class Level {
	constructor() {
		this.t = new Column(Float64Array);
		this.v = new Column(Int32Array);
		this._integral = new Column(Float64Array);
	}

	push(t, v) {
		const n = this.t.n;
		this._integral.push(n == 0 ? 0 : this._integral.a[n - 1] + this.v.a[n - 1] * (t - this.t.a[n - 1]));
		this.t.push(t);
		this.v.push(v);
	}

	at(t) {
		const i = last(this.t, t);
		return i < 0 ? 0 : this.v.a[i];
	}

	_until(t) {
		const i = last(this.t, t);
		return i < 0 ? 0 : this._integral.a[i] + this.v.a[i] * (t - this.t.a[i]);
	}

	mean(a, b) {
		return b > a ? (this._until(b) - this._until(a)) / (b - a) : this.at(a);
	}
}

// A sum that grows; between two times that are told it grows evenly.
export class Sum {
	constructor() {
		this.t = new Column(Float64Array);
		this.v = new Column(Float64Array);
	}

	push(t, v) {
		this.t.push(t);
		this.v.push(v);
	}

	_until(t) {
		const {t: {a: ts, n}, v: {a: vs}} = this, i = last(this.t, t);
		if (i + 1 >= n)
			return n == 0 ? 0 : vs[n - 1];
		const [from, value] = i < 0 ? [0, 0] : [ts[i], vs[i]];
		return t <= from ? value : value + (vs[i + 1] - value) * (t - from) / (ts[i + 1] - from);
	}

	// How much it has grown in a unit of time, from a to b.
	mean(a, b) {
		return b > a ? (this._until(b) - this._until(a)) / (b - a) : 0;
	}
}

// How many objects are in each state.
export class Counts {
	constructor(states) {
		this.states = states;
		this.t = new Column(Float64Array);
		this._from = new Column(Uint8Array);
		this._to = new Column(Uint8Array);
		this._kept = new Column(Float64Array); // each EVERY changes: integrals, and then counts
		this._integral = new Float64Array(states);
		this._count = new Float64Array(states);
	}

	push(t, from, to) {
		const n = this.t.n;
		if (n > 0)
			for (let s = 0; s < this.states; s++)
				this._integral[s] += this._count[s] * (t - this.t.a[n - 1]);
		if (n % EVERY == 0) {
			for (const one of this._integral)
				this._kept.push(one);
			for (const one of this._count)
				this._kept.push(one);
		}
		this._count[from]--;
		this._count[to]++;
		this.t.push(t);
		this._from.push(from);
		this._to.push(to);
	}

	// Adds integrals up to t, times a sign; returns the counts at t.
	_add(t, sign, out, count) {
		count.fill(0);
		const i = last(this.t, t), states = this.states;
		if (i < 0)
			return count;
		let k = i - i % EVERY;
		const base = k / EVERY * 2 * states;
		for (let s = 0; s < states; s++) {
			out[s] += sign * this._kept.a[base + s];
			count[s] = this._kept.a[base + states + s];
		}
		for (; k <= i; k++) {
			count[this._from.a[k]]--;
			count[this._to.a[k]]++;
			const length = (k < i ? this.t.a[k + 1] : t) - this.t.a[k];
			for (let s = 0; s < states; s++)
				out[s] += sign * count[s] * length;
		}
		return count;
	}

	at(t) {
		return this._add(t, 1, new Float64Array(this.states), new Float64Array(this.states));
	}

	// The mean numbers from a to b, into `out`.
	means(a, b, out) {
		const count = new Float64Array(this.states);
		out.fill(0);
		this._add(b, 1, out, count);
		this._add(a, -1, out, count);
		for (let s = 0; s < this.states; s++)
			out[s] /= b - a;
		return out;
	}
}
