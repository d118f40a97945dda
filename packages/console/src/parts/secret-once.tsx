import { Button, Group, Modal, Stack, Text } from '@mantine/core'
import { words } from '../words'
import { CodeBlock } from './code-block'

interface Props {
  title: string
  /** It tells the person where to store the secret. */
  hint: string
  /** Null while there is nothing to show. */
  secret: string | null
  close: () => void
}

/** A secret that the service shows only once. A click beside the dialog does not close it. */
export const SecretOnce = ({ title, hint, secret, close }: Props) => (
  <Modal opened={secret !== null} onClose={close} title={title} closeOnClickOutside={false} closeOnEscape={false}>
    <Stack gap="sm">
      <Text size="sm">{hint}</Text>
      {secret !== null && <CodeBlock text={secret} name={title} />}
      <Group justify="end">
        <Button onClick={close}>{words.common.close}</Button>
      </Group>
    </Stack>
  </Modal>
)
