"""demo.py FOLDER: the demo's two reports as a table for people and as a picture, FOLDER/demo.svg."""

import json
import pathlib
import sys

POLICIES = ("raid0", "adaptive")
INK, FAINT, INPUT, LOST = "#222", "#ddd", "#222", "#d62728"
SHADES = ("#1f77b4", "#ff7f0e", "#2ca02c", "#9467bd")


def megabytes(value, unit=" MB"):
    return "-" if value is None else f"{value / 1e6:.0f}{unit}"


def first_gap(report):
    gaps = report["recording"]["gaps"]
    if not gaps:
        return "-", "-"
    gap = gaps[0]
    return gap["drive"] or "-", f'{gap["offset_bytes"] / 1e6:.0f} MB'


def table(reports, verdicts):
    rows = [("", *POLICIES)]
    rows.append(("stored", *(megabytes(r["recording"]["bytes"]) for r in reports)))
    rows.append(("dropped", *(megabytes(r["recording"]["dropped_bytes"]) for r in reports)))
    rows.append(("first gap at", *(first_gap(r)[1] for r in reports)))
    rows.append(("held up by drive", *(first_gap(r)[0] for r in reports)))
    rows.append(("mean rate", *(megabytes(r["aggregate"]["mean_bytes_per_s"], " MB/s") for r in reports)))
    for window in ("1s", "5s", "10s"):
        rows.append((f"sustained({window})",
                     *(megabytes(r["aggregate"]["sustained_bytes_per_s"][window], " MB/s") for r in reports)))
    rows.append(("buffer used at most", *(f'{100 * r["buffer"]["high_water_bytes"] / r["buffer"]["bytes"]:.0f} %'
                                          for r in reports)))
    rows.append(("stored extents verified", *(f'{sum(x["ok"] for x in v["recordings"])} of '
                                              f'{sum(x["extents"] for x in v["recordings"])}' for v in verdicts)))
    widths = [max(len(row[column]) for row in rows) for column in range(3)]
    for index, row in enumerate(rows):
        print(f"  {row[0]:<{widths[0]}}   {row[1]:>{widths[1]}}   {row[2]:>{widths[2]}}")
        if index == 0:
            print("  " + "-" * (sum(widths) + 6))


def smooth(values, bins):
    """Sums of so many neighbours; a part left over at the end is left out."""
    return [sum(values[i:i + bins]) for i in range(0, len(values) - bins + 1, bins)]


def panel(report, title, left, top, width, height, peak, span_s):
    """Stacked rates of the drives, the input as a line over them."""
    series = report["series"]
    bins = max(1, round(0.5e9 / series["interval_ns"]))
    seconds = bins * series["interval_ns"] / 1e9
    drives = [[value / seconds for value in smooth(row, bins)] for row in series["drive_bytes"]]
    source = [value / seconds for value in smooth(series["input_bytes"], bins)]
    count = min(len(source), *(len(row) for row in drives))

    def x(index):
        return left + width * index * seconds / span_s

    def y(rate):
        return top + height * (1 - min(rate, peak) / peak)

    out = [f'<text x="{left}" y="{top - 12}" font-weight="bold">{title}</text>']
    for step in range(0, int(peak / 1e6) + 1, 50):
        level = y(step * 1e6)
        out.append(f'<line x1="{left}" x2="{left + width}" y1="{level:.1f}" y2="{level:.1f}" stroke="{FAINT}"/>')
        out.append(f'<text x="{left - 6}" y="{level + 4:.1f}" text-anchor="end">{step}</text>')
    base = [0.0] * count
    for row, shade in zip(drives, SHADES):
        over = [low + value for low, value in zip(base, row)]
        points = [f"{x(i):.1f},{y(over[i]):.1f}" for i in range(count)]
        points += [f"{x(i):.1f},{y(base[i]):.1f}" for i in reversed(range(count))]
        out.append(f'<polygon points="{" ".join(points)}" fill="{shade}" fill-opacity="0.75"/>')
        base = over
    line = " ".join(f"{x(i):.1f},{y(source[i]):.1f}" for i in range(count))
    out.append(f'<polyline points="{line}" fill="none" stroke="{INPUT}" stroke-width="2" stroke-dasharray="6 3"/>')
    for second in range(0, int(span_s) + 1, 2):
        out.append(f'<text x="{x(second / seconds):.1f}" y="{top + height + 16}" text-anchor="middle">{second} s</text>')
    return out


def picture(reports, names):
    width, height, peak = 760, 190, 300e6
    span_s = max(len(report["series"]["input_bytes"]) * report["series"]["interval_ns"] / 1e9 for report in reports)
    out = ['<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 860 580" font-family="sans-serif" font-size="12" '
           f'fill="{INK}">', '<rect width="860" height="580" fill="white"/>']
    for place, (report, policy) in enumerate(zip(reports, POLICIES)):
        dropped = report["recording"]["dropped_bytes"]
        verdict = f"{dropped / 1e6:.0f} MB dropped" if dropped else "nothing dropped"
        out += panel(report, f"{policy}: {verdict}", 60, 40 + place * 260, width, height, peak, span_s)
        out.append(f'<text x="16" y="{40 + place * 260 + height / 2}" text-anchor="middle" '
                   f'transform="rotate(-90 16 {40 + place * 260 + height / 2})">MB/s</text>')
    for index, name in enumerate(names):
        out.append(f'<rect x="{60 + index * 165}" y="545" width="12" height="12" fill="{SHADES[index]}" fill-opacity="0.75"/>')
        out.append(f'<text x="{78 + index * 165}" y="556">{name}</text>')
    out.append(f'<line x1="{60 + len(names) * 165}" x2="{84 + len(names) * 165}" y1="551" y2="551" stroke="{INPUT}" '
               'stroke-width="2" stroke-dasharray="6 3"/>')
    out.append(f'<text x="{90 + len(names) * 165}" y="556">the sensor</text></svg>')
    return "\n".join(out) + "\n"


def main():
    folder = pathlib.Path(sys.argv[1])
    reports = [json.loads((folder / f"{policy}.json").read_text()) for policy in POLICIES]
    verdicts = [json.loads((folder / f"{policy}-verify.json").read_text()) for policy in POLICIES]
    table(reports, verdicts)
    names = [pathlib.Path(drive["path"]).stem for drive in reports[0]["drives"]]
    (folder / "demo.svg").write_text(picture(reports, names))
    print(f"\nThe rates over time, per drive: {folder / 'demo.svg'}")


main()
