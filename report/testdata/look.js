// Looks at a report as a reader would: what is seen at once, and, with all that is folded opened, whether each text can be read.
(() => {
	const seen = {charts: 0, overflow: 0, texts: 0, faint: [], cut: [], paper: "", headline: false};
	const h1 = document.querySelector("h1").getBoundingClientRect();
	seen.headline = h1.top >= 0 && h1.top < 200 && h1.width > 0;
	for (const d of document.querySelectorAll("details")) d.open = true;

	const parse = (color) => {
		const m = color.match(/^rgba?\(([\d.]+), ([\d.]+), ([\d.]+)(?:, ([\d.]+))?\)$/);
		return m ? [+m[1], +m[2], +m[3], m[4] === undefined ? 1 : +m[4]] : null;
	};
	const over = (top, under) => [0, 1, 2].map((i) => top[i] * top[3] + under[i] * (1 - top[3]));
	const luminance = (rgb) => {
		const [r, g, b] = rgb.map((v) => ((v /= 255) <= 0.04045 ? v / 12.92 : ((v + 0.055) / 1.055) ** 2.4));
		return 0.2126 * r + 0.7152 * g + 0.0722 * b;
	};
	const contrast = (a, b) => (Math.max(luminance(a), luminance(b)) + 0.05) / (Math.min(luminance(a), luminance(b)) + 0.05);
	const filled = new Map(); // by chart
	const shapes = (svg) => {
		if (!filled.has(svg)) {
			filled.set(svg, [...svg.querySelectorAll("path[class^=f-]")].map((path) => {
				const style = getComputedStyle(path), fill = parse(style.fill);
				return {box: path.getBoundingClientRect(), layer: [...fill.slice(0, 3), fill[3] * style.fillOpacity]};
			}).filter((shape) => shape.box.width > 12));
		}
		return filled.get(svg);
	};
	// What a text stands on: the backgrounds of what it is in, from outside in; in a chart also the shapes drawn under its middle.
	const ground = (element) => {
		const layers = [];
		for (let e = element; e; e = e.parentElement) layers.unshift(parse(getComputedStyle(e).backgroundColor) || [255, 0, 255, 1]);
		const svg = element.closest("svg");
		if (svg) {
			const box = element.getBoundingClientRect();
			const x = box.left + box.width / 2, y = box.top + box.height / 2;
			for (const {box: b, layer} of shapes(svg)) {
				if (b.left <= x && x <= b.right && b.top <= y && y <= b.bottom) layers.push(layer);
			}
		}
		return layers.reduce((under, layer) => over(layer, under), [255, 255, 255]);
	};
	const texts = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
	for (let n = texts.nextNode(); n; n = texts.nextNode()) {
		const e = n.parentElement, style = getComputedStyle(e);
		if (!n.data.trim() || e.closest("style,title") || e.getBoundingClientRect().width < 2) continue;
		const color = parse(e.closest("svg") ? style.fill : style.color);
		seen.texts++;
		const got = color ? contrast(over(color, ground(e)), ground(e)) : 0;
		if (got < 4.5) seen.faint.push(`${n.data.trim().slice(0, 30)} ${got.toFixed(2)} ${style.color} ${style.fill}`);
	}
	for (const svg of document.querySelectorAll("svg")) {
		const all = svg.getBoundingClientRect();
		if (all.width > 100 && all.height > 40) seen.charts++;
		for (const text of svg.querySelectorAll("text")) {
			const b = text.getBoundingClientRect();
			if (b.left < all.left - 1 || b.right > all.right + 1 || b.top < all.top - 2 || b.bottom > all.bottom + 2) seen.cut.push(text.textContent);
		}
	}
	seen.overflow = Math.max(0, document.documentElement.scrollWidth - window.innerWidth);
	seen.paper = getComputedStyle(document.body).backgroundColor;
	return seen;
})()
