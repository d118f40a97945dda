import type { ErrorCode } from '../errors.ts'
import { conflictErrors } from './conflicts.ts'
import { fileErrors } from './files.ts'
import type { ErrorGuide } from './guide.ts'
import { importErrors } from './imports.ts'
import { requestErrors, serviceErrors } from './requests.ts'

/** What the page of each error code says. A code without an entry is a type error. */
export const errorGuide: Readonly<Record<ErrorCode, ErrorGuide>> = {
  ...requestErrors,
  ...conflictErrors,
  ...fileErrors,
  ...importErrors,
  ...serviceErrors,
}
