"""What the tables of several lessons share: inputs, steps of recipes, and the mistakes made in them."""
