import { ApiError } from '../../src/index.ts'
import { describeError } from '../errors.ts'

export interface Check {
  /** The thing that was checked. */
  check: string
  /** `warning`: it works now. `unknown`: you may not see it, or something else has to be mended first. */
  status: 'ok' | 'warning' | 'fault' | 'unknown'
  detail: string
  /** The way to mend it. Null where nothing is to be done. */
  remedy: string | null
}

type Describe = (detail: string, remedy?: string) => Omit<Check, 'check'>

const describe =
  (status: Check['status']): Describe =>
  (detail, remedy) => ({ status, detail, remedy: remedy ?? null })

export const ok = describe('ok')
export const warning = describe('warning')
export const fault = describe('fault')
export const unknown = describe('unknown')

export type Finding = ReturnType<Describe>

const hiddenStatuses = new Set([403, 404])

/** Runs a check. What the token may not see is no fault. */
export async function runCheck(check: string, find: () => Promise<Finding | Finding[]>): Promise<Check[]> {
  try {
    return [await find()].flat().map((finding) => ({ check, ...finding }))
  } catch (error) {
    if (error instanceof ApiError && hiddenStatuses.has(error.status))
      return [{ check, ...unknown('Your roles and your token do not let you see this.') }]
    return [
      { check, ...fault(describeError(error), 'Run `ecm doctor` again. If it stays, tell who runs the service.') },
    ]
  }
}
