"""What the command that starts the app tells it through the environment; light, for both import it."""

PROJECT_VARIABLE = "JUDGE_CALIBRATION_PROJECT"
