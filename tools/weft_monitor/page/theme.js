// Colours of the page that drawings need: those of style.css, read again when they change.

const NAMES = ["ground", "ink", "faint", "line", "chosen", "hover"];

export class Theme {
	constructor() {
		this.read();
	}

	read() {
		const style = getComputedStyle(document.documentElement);
		for (const name of NAMES)
			this[name] = style.getPropertyValue(`--${name}`).trim();
	}

	// Light or dark, whatever the system prefers.
	turn() {
		const {dataset} = document.documentElement;
		const dark = dataset.theme ? dataset.theme == "dark" : matchMedia("(prefers-color-scheme: dark)").matches;
		dataset.theme = dark ? "light" : "dark";
		this.read();
	}
}
