// One run on the page: its recording, its rows, and its mapping.
import {last} from "./columns.js";
import {Mapping} from "./mapping.js";
import {HEAD_HIGH, ROW, Section} from "./section.js";
import {Store} from "./store.js";

const LOW = 13; // pixels of a row whose words can be read
const CPUS = 0.35; // of the height at most

export class Run {
	constructor(page, narrow) {
		this.page = page;
		this.store = new Store();
		const root = this.root = document.createElement("article");
		root.className = "run";
		this.title = root.appendChild(document.createElement("h1"));
		this.main = root.appendChild(document.createElement("div"));
		this.main.className = "main";
		this.sections = ["thread", "lwp", "cpu"].map(kind => new Section(this, kind, page, narrow));
		for (const section of this.sections)
			this.main.append(section.root);
		this.mapping = new Mapping(this, page);
		this.side = root.appendChild(document.createElement("div"));
		this.side.className = "side";
		const figure = this.side.appendChild(document.createElement("figure"));
		const heading = figure.appendChild(document.createElement("h2"));
		heading.textContent = "Mapping at the cursor";
		figure.append(this.mapping.canvas);
		this._version = -1;
		this._high = -1;
	}

	choose() {
		for (const section of this.sections)
			section.choose();
		this._share();
		const {store} = this;
		if (this._version != store.version) {
			this._version = store.version;
			this.title.textContent = store.title;
		}
	}

	// Rows are lower if then all have room, unless someone has chosen their height.
	_fitRows(high) {
		const [threads, lwps, cpus] = this.sections, rows = [threads, lwps].filter(one => !one.isGrouped());
		const grouped = [threads, lwps].filter(one => one.isGrouped()).reduce((sum, one) => sum + one.wish(), 0);
		const many = rows.reduce((sum, one) => sum + one.shown.length, 0);
		cpus.row = Math.max(LOW, Math.min(ROW, Math.floor((CPUS * high - HEAD_HIGH) / cpus.rows())));
		const room = high - Math.min(cpus.wish(), CPUS * high) - grouped - rows.length * HEAD_HIGH;
		for (const section of rows)
			section.row = this.page.row ?? Math.max(LOW, Math.min(ROW, Math.floor(room / (many || 1))));
	}

	// Gives each section its part of the height.
	_share() {
		const high = this.main.clientHeight - (this.axis?.clientHeight ?? 0);
		this._fitRows(high);
		const [threads, lwps, cpus] = this.sections.map(one => one.wish());
		const forCpus = Math.min(cpus, CPUS * high), left = high - forCpus;
		const forLwps = Math.min(lwps, Math.max(0.35 * left, left - threads));
		const shares = [left - forLwps, forLwps, forCpus].map(Math.round);
		this.sections.forEach((section, i) => {
			const height = `${shares[i]}px`;
			if (section.root.style.height != height)
				section.root.style.height = height;
		});
	}

	draw(host) {
		for (const section of this.sections)
			section.draw();
		this.mapping.draw(host);
	}

	// Numbers of wake-ups after a and up to b, of threads (1) or LWPs (0).  More than `most`: those alone that the
	// object `chosen` takes part in.
	wakesBetween(a, b, isThread, most, chosen = null) {
		const {wakes} = this.store, from = last(wakes.t, a) + 1, to = last(wakes.t, b);
		const found = [], few = to - from < 4 * most;
		if (!few && !chosen)
			return found;
		for (let i = from; i <= to && found.length <= most; i++) {
			if (wakes.isThread.a[i] != isThread)
				continue;
			if (few || this._isIn(i, chosen))
				found.push(i);
		}
		return found.length <= most ? found : chosen ? found.filter(i => this._isIn(i, chosen)) : [];
	}

	_isIn(i, object) {
		const {woken, waker} = this.store.wake(i);
		return woken == object || waker == object;
	}

	// Whether an LWP runs a thread.
	hasThread(lwp, now) {
		if (this._on?.now != now)
			this._on = {now, map: this.store.threadsOn(now)};
		return this._on.map.has(lwp.id);
	}

	objects(kind) {
		return {thread: this.store.threads, lwp: this.store.lwps, cpu: this.store.cpus}[kind];
	}
}
