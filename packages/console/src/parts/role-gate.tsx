import type { ReactNode } from 'react'
import { useRefusalReason } from '../caller'
import type { Operation } from '../generated/roles'
import { Empty } from './empty'
import { Heading } from './heading'

interface Props {
  operation: Operation
  /** The title of the page, if the children bring it themselves. */
  title?: string
  children: ReactNode
}

/** Shows a page or a part of it only to roles that may call the operation, and the reason to others. */
export function RoleGate({ operation, title, children }: Props) {
  const reason = useRefusalReason(operation)
  if (reason === null) return children
  return (
    <>
      {title !== undefined && <Heading title={title} />}
      <Empty title={reason} />
    </>
  )
}
