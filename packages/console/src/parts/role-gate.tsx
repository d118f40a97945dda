import type { ReactNode } from 'react'
import { useRefusalReason } from '../caller'
import type { Operation } from '../generated/roles'
import { Empty } from './empty'

/** Shows the page only to roles that may call the operation, and the reason to others. */
export function RoleGate({ operation, children }: { operation: Operation; children: ReactNode }) {
  const reason = useRefusalReason(operation)
  return reason === null ? children : <Empty title={reason} />
}
