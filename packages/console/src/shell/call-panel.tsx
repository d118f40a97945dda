import { Accordion, Code, Drawer, Group, SegmentedControl, Stack, Text } from '@mantine/core'
import { useState, useSyncExternalStore } from 'react'
import { type Call, onCallsChange, readCalls } from '../calls'
import { CodeBlock } from '../parts/code-block'
import { words } from '../words'
import { writeClientCode, writeCurl } from './call-code'

/** The calls of the page, as curl and as code of the client. */
export function CallPanel({ isOpen, close }: { isOpen: boolean; close: () => void }) {
  const calls = useSyncExternalStore(onCallsChange, readCalls)
  const [form, setForm] = useState('curl')
  return (
    <Drawer opened={isOpen} onClose={close} position="right" size="lg" title={words.common.calls}>
      <Stack gap="sm">
        <Text size="sm" c="dimmed">
          {words.common.callsHint}
        </Text>
        <SegmentedControl
          value={form}
          onChange={setForm}
          data={[
            { value: 'curl', label: 'curl' },
            { value: 'client', label: 'TypeScript' },
          ]}
        />
        <Accordion variant="contained" chevronPosition="left">
          {calls.map((call) => (
            <CallItem key={call.id} call={call} isCurl={form === 'curl'} />
          ))}
        </Accordion>
      </Stack>
    </Drawer>
  )
}

function CallItem({ call, isCurl }: { call: Call; isCurl: boolean }) {
  return (
    <Accordion.Item value={String(call.id)}>
      <Accordion.Control>
        <Group gap="xs" wrap="nowrap" align="start">
          <Code>{call.method}</Code>
          <Text size="sm" className="break" flex={1}>
            {call.path}
          </Text>
          <Text size="sm" c={(call.status ?? 0) >= 400 ? 'red' : 'dimmed'} className="nowrap">
            {call.status ?? '…'} {call.durationMs !== null && `· ${call.durationMs} ms`}
          </Text>
        </Group>
      </Accordion.Control>
      <Accordion.Panel>
        <CodeBlock
          text={isCurl ? writeCurl(call, location.origin) : writeClientCode(call)}
          name={`${call.method} ${call.path}`}
        />
        {call.requestId !== null && (
          <Text size="xs" c="dimmed" mt={4}>
            {words.common.request} <Code>{call.requestId}</Code>
          </Text>
        )}
      </Accordion.Panel>
    </Accordion.Item>
  )
}
