"""The explorer: what a run learned, as pages in the browser and as a JSON interface behind them."""
