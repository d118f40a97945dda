import type { ImportPhase } from '../../domain/data-imports.ts'
import { parseStep } from './mapping/parse.ts'
import { stageStep } from './mapping/stage.ts'
import type { PhaseStep } from './steps.ts'
import { undoStep } from './undo/step.ts'

const missing: PhaseStep = (_, { phase }) => {
  throw new Error(`No work is known for the phase ${phase}.`)
}

/** What the background work of each phase does, one step at a time. */
export const phaseSteps: Record<ImportPhase, PhaseStep> = {
  parse: parseStep,
  stage: stageStep,
  import: missing,
  undo: undoStep,
}
