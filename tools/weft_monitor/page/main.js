// The page: it makes the runs, brings their recordings, draws each frame, and obeys keys and pointers.
import {Details} from "./details.js";
import {fromServer, fromText} from "./load.js";
import {Sheet} from "./rows.js";
import {Run} from "./run.js";
import {KINDS} from "./states.js";
import {Theme} from "./theme.js";
import {Time, exactly, marks, said} from "./time.js";

const SPEEDS = [[0, "30 s for all"], [1e9, "1 s a second"], [1e8, "100 ms a second"], [1e7, "10 ms a second"],
	[1e6, "1 ms a second"], [1e5, "100 µs a second"], [1e4, "10 µs a second"], [1e3, "1 µs a second"]];
const SHARES = 3e9; // of which time the shares are: ThreadMon's three seconds
const CHOOSE = 250; // milliseconds from one choice of rows to the next

const facts = JSON.parse(document.getElementById("facts").textContent);
const at = id => document.getElementById(id);

class Page {
	constructor() {
		this.theme = new Theme();
		this.time = new Time();
		this.chosen = null; // {run, kind, object}
		this.hover = null;
		this.last3 = true;
		this.row = null; // pixels of a row, if someone has chosen
		this.frames = new Float64Array(120); // milliseconds of work of the last frames
		this.frame = 0;
		this.dirty = true;
		const titles = facts.runs, several = titles.length > 1;
		at("runs").classList.toggle("several", several);
		this.runs = titles.map(() => new Run(this, several));
		this.runs.forEach((run, i) => {
			run.number = i;
			run.details = new Details(this, run, facts.server ? (run, object) => this._ask(run, object) : null);
			run.side.append(run.details.root);
			run.store.title = titles[i];
			at("runs").append(run.root);
			run.axis = document.createElement("canvas");
			run.axis.className = "axis";
			run.main.prepend(run.axis);
			run.axisSheet = new Sheet(run.axis, this.theme);
			this._listen(run);
		});
		if (facts.caption) {
			at("caption").textContent = facts.caption;
			at("caption").hidden = false;
		}
		this._legend();
		this._controls();
		document.addEventListener("keydown", event => this._key(event));
		addEventListener("resize", () => this.changed());
		matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => {
			this.theme.read();
			this.changed();
		});
		this.ready = this._load(); // all is there, and has been drawn
		requestAnimationFrame(host => this._draw(host));
	}

	changed() {
		this.dirty = true;
	}

	// The interval that shares are told of, up to the cursor.
	window({store}) {
		const {a, b, now} = this.time, begin = Number.isNaN(store.begin) ? 0 : store.begin;
		if (!this.last3)
			return [Math.max(a, begin), Math.min(b, store.end)];
		const end = Math.min(now, store.end);
		return [Math.max(begin, end - SHARES), end];
	}

	// --- the recordings -------------------------------------------------------------------------------

	async _load() {
		const inside = document.querySelectorAll(".recording");
		const all = this.runs.map((run, i) => inside.length > 0 ? fromText(inside[i].textContent, run.store) :
			fromServer(`${facts.server}recording/${i}`, run.store));
		const done = await Promise.allSettled(all);
		for (const one of done)
			if (one.status == "rejected")
				this.trouble(one.reason.message);
		this.runs.forEach(run => run.store.over = true);
		if (inside.length > 0 || facts.opened || facts.caption)
			this._openAll();
		this.changed();
		const before = this.frame;
		while (this.frame == before)
			await new Promise(done => requestAnimationFrame(done));
	}

	// A recording that is complete, or a scene whose guest has ended: all of it is shown, or the part that the scene is
	// about, and the cursor stands in its middle.
	_openAll() {
		const {begin, end, time} = this, [from, to] = facts.show ?? [0, 1];
		time.advance(0, begin, end, true);
		if (facts.show) {
			time.fit = false;
			time.set(begin + from * (end - begin), begin + to * (end - begin));
		}
		this.go(begin + (from + to) / 2 * (end - begin));
	}

	get begin() {
		return Math.min(...this.runs.map(({store}) => Number.isNaN(store.begin) ? Infinity : store.begin));
	}

	get end() {
		return Math.max(...this.runs.map(({store}) => store.end));
	}

	get over() {
		return this.runs.every(({store}) => store.over);
	}

	async _ask(run, {id}) {
		const answer = await fetch(`${facts.server}backtrace/${run.number}/${id}`, {method: "POST"});
		const text = await answer.text();
		if (!answer.ok)
			throw new Error(text || `the server answers ${answer.status}`);
		return text;
	}

	trouble(text) {
		at("trouble").textContent = text;
		at("trouble").hidden = false;
	}

	// --- frames ---------------------------------------------------------------------------------------

	_draw(host) {
		requestAnimationFrame(next => this._draw(next));
		const {time} = this, before = performance.now();
		const seconds = Math.min(0.1, (host - (this._host ?? host)) / 1000);
		this._host = host;
		const size = this.runs.reduce((sum, {store}) => sum + store.n + store.version, 0);
		const moving = time.playing && (size != this._size || !time.live);
		const settling = host - (this._moved ?? 0) < 400; // lines of the mapping may still move
		if (!moving && !this.dirty && !settling)
			return;
		if (moving || this.dirty)
			this._moved = host;
		this._size = size;
		this.dirty = false;
		time.advance(seconds, this.begin, this.end, this.over);
		if (host - (this._chosen ?? -CHOOSE) >= CHOOSE || !time.playing) {
			this._chosen = host;
			for (const run of this.runs)
				run.choose();
		}
		for (const run of this.runs) {
			run.draw(host);
			this._axis(run);
			run.details.draw();
		}
		this._words();
		this.frames[this.frame++ % this.frames.length] = performance.now() - before;
	}

	_axis(run) {
		const sheet = run.axisSheet, {time, theme} = this;
		sheet.begin(time, run.sections[0].left);
		for (const [t, text] of marks(time.a, time.b, sheet.width - sheet.left, 90)) {
			sheet.rule(sheet.x(t), theme.line, 14, 6);
			sheet.text(text, sheet.x(t), 8, theme.faint, 11, "center");
		}
		if (time.now >= time.a && time.now <= time.b)
			sheet.rule(sheet.x(time.now), theme.ink);
	}

	_words() {
		const {time} = this;
		const clock = this.end > 0 ? exactly(time.now) : "waiting for the guest";
		if (at("clock").textContent != clock)
			at("clock").textContent = clock;
		const costs = this.runs.map(({store}) => store.facts.cost ?? "").filter(Boolean).join(" · ");
		if (at("cost").textContent != costs)
			at("cost").textContent = costs;
		at("play").textContent = time.playing ? "❚❚" : "▶";
		at("play").setAttribute("aria-label", time.playing ? "pause" : "play");
		at("play").setAttribute("aria-pressed", time.playing);
		at("live").setAttribute("aria-pressed", time.live && time.playing);
		at("live").textContent = this.over ? "End" : "Live";
		at("group").setAttribute("aria-pressed", this.runs[0].sections[0].isGrouped());
	}

	_legend() {
		const said = new Map();
		for (const states of Object.values(KINDS))
			for (const [word, colour, meaning] of states.slice(1))
				if (!said.has(word))
					said.set(word, [colour, meaning]);
		const SVG = "http://www.w3.org/2000/svg";
		for (const [word, [colour, meaning]] of said) {
			const item = document.createElement("li"), svg = document.createElementNS(SVG, "svg");
			const box = svg.appendChild(document.createElementNS(SVG, "rect"));
			for (const [key, value] of Object.entries({width: 11, height: 11, fill: colour}))
				box.setAttribute(key, value);
			item.append(svg, word);
			item.title = meaning;
			at("legend").append(item);
		}
	}

	// --- commands -------------------------------------------------------------------------------------

	play() {
		const {time} = this;
		if (!time.playing && time.now >= this.end && this.over)
			time.now = this.begin;
		time.playing = !time.playing;
		time.live = time.playing && !this.over && time.now >= this.end;
		this.changed();
	}

	goLive() {
		const {time} = this;
		time.playing = time.live = !this.over;
		time.now = this.end;
		if (!time.fit)
			time.follow();
		this.changed();
	}

	// To the next event of any run, or the one before.
	step(forward) {
		const {time} = this, times = this.runs.map(({store}) =>
			forward ? store.nextTime(time.now) : store.previousTime(time.now)).filter(one => one !== undefined);
		if (times.length > 0)
			this.go(forward ? Math.min(...times) : Math.max(...times));
	}

	go(to) {
		this.time.go(Math.max(this.begin, Math.min(this.end, to)));
		this.changed();
	}

	zoom(factor, around) {
		this.time.zoom(factor, around);
		this.changed();
	}

	fit() {
		const {time, begin, end} = this;
		if (end > begin)
			time.set(begin - 0.02 * (end - begin), end + 0.02 * (end - begin));
		time.fit = true;
		this.changed();
	}

	choose(run, kind, object) {
		this.chosen = object ? {run, kind, object} : null;
		if (object)
			run.sections.find(one => one.kind == kind).reveal(object);
		this.changed();
	}

	chooseNext(by) {
		const {run, kind} = this.chosen ?? {run: this.runs[0], kind: "thread"};
		let section = run.sections.find(one => one.kind == kind);
		if (section.shown.length == 0)
			section = run.sections.find(one => one.shown.length > 0) ?? section;
		const i = section.shown.indexOf(this.chosen?.object), next = section.shown[i + by] ?? section.shown[0];
		this.choose(run, section.kind, next);
	}

	search(words) {
		for (const run of this.runs)
			for (const section of run.sections)
				section.wanted = section.kind == "cpu" ? "" : words.trim();
		for (const run of this.runs)
			run.choose();
		this.changed();
	}

	group() {
		for (const {sections: [threads]} of this.runs)
			threads.grouped = !threads.isGrouped();
		this.changed();
	}

	high(by) {
		this.row = Math.max(2, Math.min(40, this.runs[0].sections[0].row + by));
		for (const run of this.runs)
			run.choose();
		this.changed();
	}

	// --- controls, keys and pointers ------------------------------------------------------------------

	_controls() {
		const press = (id, does) => at(id).addEventListener("click", does);
		press("back", () => this.step(false));
		press("play", () => this.play());
		press("next", () => this.step(true));
		press("live", () => this.goLive());
		press("in", () => this.zoom(0.5));
		press("out", () => this.zoom(2));
		press("fit", () => this.fit());
		press("group", () => this.group());
		press("dark", () => this._turn());
		press("help", () => at("keys").showModal());
		at("search").addEventListener("input", () => this.search(at("search").value));
		for (const [value, text] of SPEEDS)
			at("speed").add(new Option(text, value));
		at("speed").addEventListener("change", () => {
			this.time.speed = Number(at("speed").value);
			this.time.live = false;
		});
		at("window").addEventListener("change", () => {
			this.last3 = at("window").value == "3";
			this.changed();
		});
	}

	_turn() {
		this.theme.turn();
		this.changed();
	}

	_key(event) {
		if (event.ctrlKey || event.metaKey || event.altKey || at("keys").open)
			return;
		const inField = event.target.matches("input, select"), {time} = this, span = time.b - time.a;
		if (event.key == "Escape") {
			at("search").value = "";
			this.search("");
			this.choose(this.runs[0], "thread", null);
			event.target.blur();
			return;
		}
		if (inField)
			return;
		const does = {
			" ": () => this.play(), "ArrowRight": () => this.step(true), "ArrowLeft": () => this.step(false),
			"+": () => this.zoom(0.5), "=": () => this.zoom(0.5), "-": () => this.zoom(2), "0": () => this.fit(),
			"Home": () => this.go(this.begin), "End": () => this.goLive(), "l": () => this.goLive(),
			"/": () => at("search").focus(), "j": () => this.chooseNext(1), "k": () => this.chooseNext(-1),
			"b": () => this.chosen?.run.details.backtrace(),
			"g": () => this.group(), "d": () => this._turn(), "[": () => this.high(-2), "]": () => this.high(2),
			"?": () => at("keys").showModal(),
		};
		if (event.shiftKey && event.key.startsWith("Arrow")) {
			time.pan((event.key == "ArrowRight" ? 0.2 : -0.2) * span);
			this.changed();
		} else if (does[event.key.length == 1 ? event.key.toLowerCase() : event.key]) {
			does[event.key.length == 1 ? event.key.toLowerCase() : event.key]();
		} else {
			return;
		}
		event.preventDefault();
	}

	_listen(run) {
		for (const section of run.sections)
			this._listenRows(run, section);
		const {mapping, axis} = run;
		mapping.canvas.addEventListener("click", event => {
			const box = mapping.objectAt(event.offsetX, event.offsetY);
			this.choose(run, box?.kind ?? "thread", box?.object ?? null);
			run.details.clicked();
		});
		mapping.canvas.addEventListener("pointermove", event => {
			const box = mapping.objectAt(event.offsetX, event.offsetY);
			this._tip(event, box && run.sections.find(one => one.kind == box.kind).told(box.object, this.time.now));
		});
		mapping.canvas.addEventListener("pointerleave", () => this._tip(null));
		const scrub = event => {
			if (event.buttons & 1)
				this.go(run.axisSheet.t(event.offsetX));
		};
		axis.addEventListener("pointerdown", event => {
			axis.setPointerCapture(event.pointerId);
			scrub(event);
		});
		axis.addEventListener("pointermove", scrub);
	}

	_listenRows(run, section) {
		const {canvas, sheet} = section;
		let from = null, moved = false;
		canvas.addEventListener("pointerdown", event => {
			if (event.button != 0)
				return;
			from = event.offsetX;
			moved = false;
			canvas.setPointerCapture(event.pointerId);
		});
		canvas.addEventListener("pointermove", event => {
			const t = sheet.t(event.offsetX), object = section.objectAt(event.offsetX, event.offsetY);
			if (from !== null && (moved || Math.abs(event.offsetX - from) > 3)) {
				moved = true;
				this.time.pan((from - event.offsetX) / sheet.scale);
				from = event.offsetX;
				this.changed();
			}
			if (this.hover != object) {
				this.hover = object;
				this.changed();
			}
			this._tip(event, object && event.offsetX > section.left ? `${said(t)}: ${section.told(object, t)}` : null);
		});
		canvas.addEventListener("pointerup", event => {
			if (from !== null && !moved) {
				this.choose(run, section.kind, section.objectAt(event.offsetX, event.offsetY));
				run.details.clicked();
				if (event.offsetX > section.left)
					this.go(sheet.t(event.offsetX));
			}
			from = null;
		});
		canvas.addEventListener("pointerleave", () => {
			this.hover = null;
			this._tip(null);
			this.changed();
		});
		section.scroller.addEventListener("scroll", () => this.changed());
		canvas.addEventListener("wheel", event => {
			if (event.offsetX < section.left)
				return;
			event.preventDefault();
			if (event.shiftKey)
				this.time.pan((event.deltaY + event.deltaX) / sheet.scale);
			else
				this.time.zoom(1.0018 ** event.deltaY, sheet.t(event.offsetX));
			this.changed();
		}, {passive: false});
	}

	_tip(event, text = null) {
		const tip = at("tip");
		tip.hidden = !text;
		if (!text)
			return;
		tip.textContent = text;
		tip.style.left = `${Math.min(event.clientX + 14, innerWidth - tip.offsetWidth - 6)}px`;
		tip.style.top = `${Math.max(4, event.clientY - 30)}px`;
	}
}

globalThis.weftMonitor = new Page();
