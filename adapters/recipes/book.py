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

SHARED_FILTERS = frozenset(text for recipe in RECIPES if recipe.shared for text in recipe.filters)
"""Topic filters under which each message may be of a device that was not heard before."""
