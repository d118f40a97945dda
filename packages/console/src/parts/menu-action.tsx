import { Menu, type MenuItemProps, Text } from '@mantine/core'
import type { ReactNode } from 'react'
import { useRefusalReason } from '../caller'
import type { Operation } from '../generated/roles'

interface Props extends MenuItemProps {
  operation: Operation
  /** Tells why the action is not possible now. Null if it is. */
  reason?: string | null
  onClick: () => void
  children: ReactNode
}

/** An entry of a menu that is disabled with a reason. */
export function MenuAction({ operation, reason, children, ...item }: Props) {
  const refusal = useRefusalReason(operation) ?? reason ?? null
  return (
    <Menu.Item {...item} disabled={refusal !== null}>
      {children}
      {refusal !== null && (
        <Text size="xs" maw={260}>
          {refusal}
        </Text>
      )}
    </Menu.Item>
  )
}
