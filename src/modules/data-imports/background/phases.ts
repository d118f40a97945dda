import type { ImportPhase } from '../../../domain/data-imports/data-imports.ts'
import { parseStep } from '../staging/parse.ts'
import { stageStep } from '../staging/stage.ts'
import { importStep } from '../run/import-step.ts'
import type { PhaseStep } from './steps.ts'
import { undoStep } from '../undo/step.ts'

/** The step function of each phase of the background work. */
export const phaseSteps: Record<ImportPhase, PhaseStep> = {
  parse: parseStep,
  stage: stageStep,
  import: importStep,
  undo: undoStep,
}
