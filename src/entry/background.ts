import { waitUntil } from 'cloudflare:workers'
import { logError } from '../http/log.ts'

/** Continues work after its handler has returned. A fault is logged; a sweep finds the unfinished rows. */
export const continueInBackground = (name: string, work: Promise<unknown>): void =>
  waitUntil(work.catch((error: unknown) => logError(name, error)))
