"""Serves one ClickHouse database over HTTP for tests: the engine of chdb behind the part of ClickHouse's HTTP
interface that the official client uses. Prints the port when it is ready. Arguments: folder, port.

It is a test double of the server, not of the engine: statements, storage and merges are ClickHouse's own.
https://clickhouse.com/docs/interfaces/http
"""
import re
import sys
import threading
from email.parser import BytesParser
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from urllib.parse import parse_qsl, urlsplit

from chdb import session

engine = session.Session(sys.argv[1])
# chdb runs one statement at a time.
turn = threading.Lock()
# Settings of the HTTP interface itself, and those of the user that chdb does not know.
NOT_SETTINGS = {'query', 'database', 'query_id', 'session_id', 'wait_end_of_query', 'default_format',
                'compress', 'enable_http_compression', 'role'}


def parts_of(headers, body):
    """The fields of a form of several parts, in which long parameters travel."""
    head = b'content-type: ' + headers['content-type'].encode() + b'\r\n\r\n'
    for part in BytesParser().parsebytes(head + body).walk():
        name = part.get_param('name', header='content-disposition')
        if name:
            yield name, part.get_payload(decode=True).decode()


class Handler(BaseHTTPRequestHandler):
    protocol_version = 'HTTP/1.1'

    def do_GET(self):
        self.answer(b'Ok.\n', 200)

    def do_POST(self):
        body = self.rfile.read(self.length()) if 'content-length' in self.headers else self.chunks()
        fields = dict(parse_qsl(urlsplit(self.path).query, keep_blank_values=True))
        if self.headers.get('content-type', '').startswith('multipart/form-data'):
            fields.update(parts_of(self.headers, body))
            body = b''
        text = '\n'.join(part for part in (fields.get('query'), body.decode()) if part)
        try:
            self.answer(self.run(text, fields), 200)
        except Exception as error:  # The error of the engine is the answer.
            self.answer(str(error).encode(), 500)

    def run(self, text, fields):
        parameters = {name[6:]: value for name, value in fields.items() if name.startswith('param_')}
        settings = ', '.join(
            f"{name} = '{value}'" for name, value in fields.items()
            if name not in NOT_SETTINGS and not name.startswith('param_') and re.fullmatch(r'\w+', name))
        with turn:
            if settings:
                engine.query(f'set {settings}')
            return engine.query(text, 'JSON', params=parameters).bytes()

    def length(self):
        return int(self.headers['content-length'])

    def chunks(self):
        body = b''
        while size := int(self.rfile.readline(), 16):
            body += self.rfile.read(size)
            self.rfile.readline()
        self.rfile.readline()
        return body

    def answer(self, body, status):
        self.send_response(status)
        self.send_header('content-length', str(len(body)))
        if status != 200:
            code = re.search(rb'Code: (\d+)', body)
            self.send_header('x-clickhouse-exception-code', code.group(1).decode() if code else '1000')
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_):
        pass


server = ThreadingHTTPServer(('127.0.0.1', int(sys.argv[2])), Handler)
print(server.server_port, flush=True)
server.serve_forever()
