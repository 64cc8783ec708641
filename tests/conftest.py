"""What all tests share."""

import os
import shutil

import pytest
from hypothesis import Phase, settings

# The first call of a kernel may compile or load it: no example is slow for that.
settings.register_profile("moreplr", deadline=None)
# Whether a test fails is all that counts there, not which example is the simplest.
without_shrinking = [Phase.explicit, Phase.generate]
settings.register_profile("mutation", deadline=None, derandomize=True, phases=without_shrinking)
settings.load_profile(os.environ.get("HYPOTHESIS_PROFILE", "moreplr"))

CHROMIUM, DRIVER = shutil.which("chromium"), shutil.which("chromedriver")


@pytest.fixture(scope="session")
def browser():
    """A real browser; on machines without one, its tests are skipped."""
    if CHROMIUM is None or DRIVER is None:
        pytest.skip("chromium and chromedriver are not installed")
    webdriver = pytest.importorskip("selenium.webdriver", reason="selenium is not installed")
    options = webdriver.ChromeOptions()
    options.binary_location = CHROMIUM
    for argument in ("--headless=new", "--no-sandbox", "--disable-dev-shm-usage"):
        options.add_argument(argument)
    options.set_capability("goog:loggingPrefs", {"browser": "ALL"})
    driver = webdriver.Chrome(options, webdriver.ChromeService(DRIVER))
    yield driver
    driver.quit()
