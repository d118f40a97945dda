import type { ReactNode } from 'react'
import { useCaller, useRefusalReason } from '../caller'
import type { Operation } from '../generated/roles'
import { Empty } from './empty'

/** Shows the page only to roles that may call the operation, and the reason to others. */
export function RoleGate({ operation, children }: { operation: Operation; children: ReactNode }) {
  const person = useCaller()
  const reason = useRefusalReason(operation)
  // Until the roles are loaded, the page would make calls that are refused.
  if (person === undefined) return null
  return reason === null ? children : <Empty title={reason} />
}
