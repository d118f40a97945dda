import type { ErrorCode } from '../errors.ts'
import { conflictErrors } from './conflicts.ts'
import { fileErrors } from './files.ts'
import type { ErrorGuide } from './guide.ts'
import { refundErrors } from './refunds.ts'
import { importErrors } from './imports.ts'
import { requestErrors, serviceErrors } from './requests.ts'

/** The texts of the pages of all error codes. A code without an entry is a type error. */
export const errorGuide: Readonly<Record<ErrorCode, ErrorGuide>> = {
  ...requestErrors,
  ...conflictErrors,
  ...refundErrors,
  ...fileErrors,
  ...importErrors,
  ...serviceErrors,
}
