import { ActionIcon, CopyButton, Tooltip } from '@mantine/core'
import { IconCheck, IconCopy } from '@tabler/icons-react'
import { words } from '../words'

/** Copies a text to the clipboard. `name` says what it is, such as "id". */
export const Copy = ({ text, name }: { text: string; name: string }) => (
  <CopyButton value={text}>
    {({ copied, copy }) => (
      <Tooltip label={copied ? words.common.copied : `${words.common.copy}: ${name}`}>
        <ActionIcon
          variant="subtle"
          color={copied ? 'teal' : 'gray'}
          size={24}
          onClick={copy}
          aria-label={`${words.common.copy}: ${name}`}
        >
          {copied ? <IconCheck size={14} /> : <IconCopy size={14} />}
        </ActionIcon>
      </Tooltip>
    )}
  </CopyButton>
)
