"""The table of recipes; each is one line of a module of this folder."""

from adapters.recipes import clouds, houses, meters, radio
from adapters.recipes.recipe import Recipe

RECIPES: tuple[Recipe, ...] = (
    *radio.RECIPES,
    *meters.RECIPES,
    *houses.RECIPES,
    *clouds.RECIPES,
)
"""In the order in which discovery asks those whose topics match."""

RECIPE_NAMES = tuple(dict.fromkeys(recipe.name for recipe in RECIPES))
