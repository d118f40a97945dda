import { Button, type ButtonProps, Tooltip } from '@mantine/core'
import type { ReactNode } from 'react'
import { useRefusalReason } from '../caller'
import type { Operation } from '../generated/roles'

interface Props extends ButtonProps {
  /** The operation that the button leads to. A person whose role may not call it sees the button disabled, with the reason. */
  operation?: Operation
  /** Tells why the action is not possible now. Null if it is. */
  reason?: string | null | undefined
  onClick?: () => void
  type?: 'button' | 'submit'
  children: ReactNode
}

/** A button that is disabled with a reason, which shows on hover and on focus. */
export function ActionButton({ operation, reason, onClick, type = 'button', ...button }: Props) {
  const refusal = useRefusalReason(operation) ?? reason ?? null
  if (refusal === null) return <Button size="sm" {...button} type={type} onClick={onClick} />
  return (
    <Tooltip label={refusal} multiline maw={320} events={{ hover: true, focus: true, touch: true }}>
      <Button
        size="sm"
        {...button}
        data-disabled
        aria-disabled
        aria-description={refusal}
        onClick={(event) => event.preventDefault()}
      />
    </Tooltip>
  )
}
