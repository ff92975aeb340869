"""Draw a panel for each graph from the committed rows: accuracy by budget of ACTC, the version before, and pooled."""

from __future__ import annotations

from benchmarks.proving.summarise import HERE, names, read_means

COLOURS = {"actc-lr-rndm": "#888888", "pooled:prior=v3": "#E69F00", "pooled": "#0072B2", "pooled-known": "#009E73"}


def main() -> None:
    """Write graphs.png, a panel for each graph."""
    import matplotlib

    matplotlib.use("Agg")
    from matplotlib import pyplot

    means = read_means()
    graphs, budgets = names(means)
    sheet, axes = pyplot.subplots(3, 5, figsize=(17, 9), sharex=True)
    for graph, panel in zip(graphs, axes.flat, strict=False):
        for method, colour in COLOURS.items():
            there = [budget for budget in budgets if (graph, method, budget) in means]
            values = [means[graph, method, budget][0] for budget in there]
            panel.plot([budgets.index(budget) for budget in there], values, color=colour, label=method, marker=".")
        panel.set_title(graph)
        panel.set_xticks(range(len(budgets)), budgets, rotation=60, fontsize=8)
        panel.grid(alpha=0.3)
    axes.flat[0].legend(fontsize=8)
    sheet.supxlabel("answers")
    sheet.supylabel("test accuracy, %")
    sheet.tight_layout()
    sheet.savefig(HERE / "graphs.png", dpi=80)


if __name__ == "__main__":
    main()
