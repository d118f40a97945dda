import { waitUntil } from 'cloudflare:workers'
import { logError } from '../http/log.ts'

/**
 * Lets work go on after its handler has returned. Errors are logged, and a sweep finds the unfinished rows. It stands
 * alone because Node, where the document's tests load the app, has no `cloudflare:workers`.
 */
export const continueInBackground = (name: string, work: Promise<unknown>): void =>
  waitUntil(work.catch((error: unknown) => logError(name, error)))
