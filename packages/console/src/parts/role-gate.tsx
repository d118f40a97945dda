import type { ReactNode } from 'react'
import { useCaller, useRefusalReason } from '../caller'
import type { Operation } from '../generated/roles'
import { Empty } from './empty'
import { Heading } from './heading'

interface Props {
  operation: Operation
  /** The title of the page, if the children bring it themselves. */
  title?: string
  children: ReactNode
}

/** Shows the page only to roles that may call the operation, and the reason to others. */
export function RoleGate({ operation, title, children }: Props) {
  const person = useCaller()
  const reason = useRefusalReason(operation)
  // Until the roles are loaded, the page would make calls that are refused.
  if (person === undefined) return null
  if (reason === null) return children
  return (
    <>
      {title !== undefined && <Heading title={title} />}
      <Empty title={reason} />
    </>
  )
}
